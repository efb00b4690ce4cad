#include "penstock/algorithm/limit.h"

#include <algorithm>
#include <expected>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "penstock/algorithm/sliding_log.h"
#include "penstock/base/check.h"

namespace penstock::algorithm {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kTickBound = std::int64_t{1} << 62;
constexpr std::int64_t kThirtyYearsSeconds = 30 * 31'557'600LL;
constexpr std::uint32_t kMostUnits = std::numeric_limits<std::uint32_t>::max();

struct Rate {
  std::uint32_t amount;
  std::int64_t window_seconds;
  std::uint32_t burst;
};

// See the class comment of Limit.
Ticks choose_ticks(const Rate& rate) {
  const std::int64_t g = std::gcd(std::int64_t{rate.amount}, rate.window_seconds);
  const std::int64_t second = rate.amount / g;
  const std::int64_t cost = rate.window_seconds / g;
  const auto second_limit = static_cast<std::int64_t>(Wide{kTickBound - 1} / (Wide(second) * kThirtyYearsSeconds));
  const auto burst_limit = static_cast<std::int64_t>(Wide{kTickBound - 1} / (Wide(cost) * rate.burst));
  std::int64_t j = std::min(second_limit, burst_limit);
  PENSTOCK_CHECK(j >= 1);
  const std::int64_t whole_nanoseconds = kNanosecondsPerSecond / std::gcd(second, kNanosecondsPerSecond);
  if (whole_nanoseconds <= j) j -= j % whole_nanoseconds;
  const bool whole = second * j % kNanosecondsPerSecond == 0;
  return {.per_second = second * j,
          .per_cost = cost * j,
          .per_burst = cost * j * rate.burst,
          .per_nanosecond = whole ? second * j / kNanosecondsPerSecond : 0};
}

std::uint8_t fold(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t mixed = (a * 0x9e3779b97f4a7c15u ^ b) * 0xd1b54a32d192ed03u;
  return static_cast<std::uint8_t>(mixed >> 56);
}

template <class... Values>
std::unexpected<Error> refuse(fmt::format_string<Values...> text, Values&&... values) {
  return fail(ErrorCode::invalid_argument, fmt::format(text, std::forward<Values>(values)...));
}

// `place` leads the message: empty, or "peak: ".
Result<Ticks> ticks_for(const Rate& rate, Algorithm algorithm, std::string_view place) {
  if (rate.window_seconds < 1 || rate.window_seconds > Limit::kMaxWindowSeconds) {
    return refuse("{}a window of {} seconds is out of range: 1 to {}", place, rate.window_seconds,
                  Limit::kMaxWindowSeconds);
  }
  if (rate.amount == 0) {
    return refuse("{}{} needs an amount of at least 1 (fixed_window takes 0, and refuses everything)", place,
                  to_string(algorithm));
  }
  if (rate.burst == 0) return refuse("{}a burst of 0 admits nothing: 1 to {}", place, kMostUnits);
  return choose_ticks(rate);
}

// What the options say that the algorithm has no use for.
std::optional<Error> misplaced(const LimitOptions& options) {
  const std::string_view name = to_string(options.algorithm);
  if (options.peak && !is_bucket(options.algorithm)) {
    return refuse("a peak of {} in {} seconds has no meaning for {}: accepted with token_bucket, leaky_bucket and gcra",
                  options.peak->amount, options.peak->window_seconds, name)
        .error();
  }
  if (options.max_wait != Nanoseconds{0} && options.algorithm != Algorithm::leaky_bucket) {
    return refuse("a max_wait of {} ns has no meaning for {}: accepted with leaky_bucket", options.max_wait.count(),
                  name)
        .error();
  }
  if (options.max_wait < Nanoseconds{0} || options.max_wait > Limit::kMaxWait) {
    return refuse("a max_wait of {} ns is out of range: 0 to {} (24 hours)", options.max_wait.count(),
                  Limit::kMaxWait.count())
        .error();
  }
  if (options.spread_windows && !is_window(options.algorithm)) {
    return refuse("{} has no windows to spread: accepted with fixed_window and sliding_window", name).error();
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::fixed_window: return "fixed_window";
    case Algorithm::gcra: return "gcra";
    case Algorithm::sliding_window: return "sliding_window";
    case Algorithm::sliding_log: return "sliding_log";
    case Algorithm::token_bucket: return "token_bucket";
    case Algorithm::leaky_bucket: return "leaky_bucket";
  }
  return "";
}

Result<Limit> Limit::create(const LimitOptions& options) {
  if (const std::optional<Error> error = misplaced(options)) return std::unexpected{*error};
  Limit limit;
  limit.algorithm_ = options.algorithm;
  limit.amount_ = options.amount;
  limit.capacity_ = options.amount;
  limit.window_seconds_ = options.window_seconds;
  limit.count_refused_ = options.count_refused;
  limit.spread_windows_ = options.spread_windows;
  limit.max_wait_ = options.max_wait;
  if (!limit.is_bucket()) {
    if (options.window_seconds < 1 || options.window_seconds > kMaxWindowSeconds) {
      return refuse("a window of {} seconds is out of range: 1 to {}", options.window_seconds, kMaxWindowSeconds);
    }
    if (limit.is_log() && (options.amount == 0 || options.amount > kMaxLogAmount)) {
      return refuse("a sliding_log of {} is out of range: 1 to {}, as it remembers every cost; use sliding_window",
                    options.amount, kMaxLogAmount);
    }
    limit.scale_check_ = limit.window_scale();
    limit.plain_ = limit.state_words() == 1 && !limit.spread_windows_;
    return limit;
  }
  const Result<Ticks> ticks = ticks_for({options.amount, options.window_seconds, options.burst}, options.algorithm, "");
  if (!ticks) return std::unexpected{ticks.error()};
  limit.ticks_ = *ticks;
  limit.capacity_ = options.burst;
  if (options.peak) {
    const PeakOptions& peak = *options.peak;
    const Result<Ticks> peak_ticks =
        ticks_for({peak.amount, peak.window_seconds, peak.burst}, options.algorithm, "peak: ");
    if (!peak_ticks) return std::unexpected{peak_ticks.error()};
    limit.peak_ticks_ = *peak_ticks;
    limit.has_peak_ = true;
    limit.plain_ = false;
    limit.capacity_ = std::min(options.burst, peak.burst);
  }
  limit.scale_check_ = limit.check_of(static_cast<std::uint64_t>(limit.ticks_.per_second),
                                      static_cast<std::uint64_t>(limit.peak_ticks_.per_second));
  return limit;
}

Limit Limit::original_window(std::uint32_t amount, std::int64_t window_seconds) noexcept {
  PENSTOCK_CHECK(window_seconds >= 1 && window_seconds <= kMaxWindowSeconds);
  Limit limit;
  limit.amount_ = amount;
  limit.capacity_ = amount;
  limit.window_seconds_ = window_seconds;
  limit.count_refused_ = true;
  limit.scale_check_ = limit.window_scale();
  return limit;
}

std::uint16_t Limit::check_of(std::uint64_t a, std::uint64_t b) const noexcept {
  const int kind = has_peak_ ? kPeakKind : static_cast<int>(algorithm_) + 1;
  return static_cast<std::uint16_t>(kind << 8 | fold(a, b));
}

// The entries of a log stand at instants, which read the same whatever the window.
std::uint16_t Limit::window_scale() const noexcept {
  return is_log() ? check_of(0, 0) : check_of(static_cast<std::uint64_t>(window_seconds_), spread_windows_ ? 1 : 0);
}

Nanoseconds Limit::window_offset(const Hash128& counter) const noexcept {
  if (!spread_windows_) return Nanoseconds{0};
  const Wide window = Wide(window_seconds_) * kNanosecondsPerSecond;
  return Nanoseconds{static_cast<std::int64_t>(counter.high * window >> 64)};
}

}  // namespace penstock::algorithm
