#include "penstock/store/redis/scale.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace penstock::store::redis {
namespace {

__extension__ using Wide = __int128;

constexpr Wide kBound = Wide{1} << kExactBits;
constexpr std::int64_t kSecondUs = 1'000'000;
constexpr std::int64_t kLongestTickUs = 1'000'000'000'000;  // eleven days
constexpr std::int64_t kEnoughCredits = std::int64_t{1} << 20;

Wide ceiling(Wide value, Wide divisor) { return (value + divisor - 1) / divisor; }

Wide microseconds(Nanoseconds span) { return ceiling(span.count(), 1'000); }

// The numbers that a script adds up: a full bucket and a cost on top, the longest wait, a second's slack of clocks.
Wide largest_sum(const BucketScale& scale) {
  return Wide{2} * scale.room + scale.wait + Wide{scale.credits} * (kSecondUs / std::min(scale.tick_us, kSecondUs) + 1);
}

std::optional<BucketScale> scale_of(Wide credits, Wide price, const BucketRate& rate, std::int64_t tick_us) {
  const Wide wait = microseconds(rate.max_wait) / tick_us * credits;
  const Wide room = price * rate.burst;
  if (credits < 1 || price < 1 || credits >= kBound || room >= kBound || wait >= kBound) return std::nullopt;
  const BucketScale scale = {.credits = static_cast<std::int64_t>(credits),
                             .price = static_cast<std::int64_t>(price),
                             .room = static_cast<std::int64_t>(room),
                             .tick_us = tick_us,
                             .wait = static_cast<std::int64_t>(wait)};
  return largest_sum(scale) < kBound ? std::optional{scale} : std::nullopt;
}

std::optional<BucketScale> exact_scale(const BucketRate& rate, std::int64_t tick_us) {
  const std::int64_t ticks = rate.window_seconds * (kSecondUs / tick_us);
  const std::int64_t divisor = std::gcd(std::int64_t{rate.amount}, ticks);
  return scale_of(rate.amount / divisor, ticks / divisor, rate, tick_us);
}

// The highest price that fits, and as many credits as never refill faster than asked.
std::optional<BucketScale> rounded_scale(const BucketRate& rate, std::int64_t tick_us) {
  const Wide window_us = Wide{rate.window_seconds} * kSecondUs;
  const Wide second = ceiling(Wide{rate.amount} * std::max(kSecondUs, 2 * tick_us), window_us) + 1;
  const Wide waiting = ceiling(microseconds(rate.max_wait) * rate.amount, window_us) + 1;
  const Wide price = (kBound - 1) / (Wide{2} * rate.burst + waiting + second);
  const Wide credits = price * rate.amount * tick_us / window_us;
  auto scale = scale_of(credits, price, rate, tick_us);
  if (!scale) return std::nullopt;
  const double exact = static_cast<double>(price) * rate.amount * static_cast<double>(tick_us);
  scale->rate_error = std::max(0.0, 1.0 - static_cast<double>(credits) * static_cast<double>(window_us) / exact);
  return scale;
}

}  // namespace

BucketScale bucket_scale(const BucketRate& rate) noexcept {
  for (std::int64_t tick = 1; tick <= kSecondUs; tick *= 10) {
    if (const auto scale = exact_scale(rate, tick)) return *scale;
  }
  BucketScale best;
  for (std::int64_t tick = 1; tick <= kLongestTickUs; tick *= 10) {
    const auto scale = rounded_scale(rate, tick);
    if (!scale || scale->credits <= best.credits) continue;
    best = *scale;
    if (best.credits >= kEnoughCredits) break;
  }
  return best;
}

SlidingScale sliding_scale(std::uint32_t amount, std::int64_t window_seconds) noexcept {
  const std::int64_t window_us = window_seconds * kSecondUs;
  std::int64_t tick = 1;
  while (Wide{std::max(amount, 1U)} * (window_us / tick + 1) >= kBound) tick *= 10;
  return {.tick_us = tick, .parts = window_us / tick};
}

}  // namespace penstock::store::redis
