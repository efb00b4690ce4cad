#include "penstock/algorithm/limit.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "penstock/base/check.h"

namespace penstock::algorithm {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kTickBound = std::int64_t{1} << 62;
constexpr std::int64_t kThirtyYearsSeconds = 30 * 31'536'000LL;

struct Ticks {
  std::int64_t per_second;
  std::int64_t per_cost;
};

// See the class comment of Limit.
Ticks choose_ticks(std::int64_t amount, std::int64_t window_seconds, std::int64_t burst) {
  const std::int64_t g = std::gcd(amount, window_seconds);
  const std::int64_t second = amount / g;
  const std::int64_t cost = window_seconds / g;
  const auto second_limit = static_cast<std::int64_t>(Wide{kTickBound - 1} / (Wide(second) * kThirtyYearsSeconds));
  const auto burst_limit = static_cast<std::int64_t>(Wide{kTickBound - 1} / (Wide(cost) * Wide(burst)));
  std::int64_t j = std::min(second_limit, burst_limit);
  PENSTOCK_CHECK(j >= 1);
  const std::int64_t whole_nanoseconds = kNanosecondsPerSecond / std::gcd(second, kNanosecondsPerSecond);
  if (whole_nanoseconds <= j) j -= j % whole_nanoseconds;
  return {.per_second = second * j, .per_cost = cost * j};
}

std::uint16_t fold(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15u;
  return static_cast<std::uint16_t>(value >> 48);
}

}  // namespace

std::string_view to_string(Algorithm algorithm) noexcept {
  switch (algorithm) {
    case Algorithm::fixed_window: return "fixed_window";
    case Algorithm::gcra: return "gcra";
  }
  return "";
}

Result<Limit> Limit::create(const LimitOptions& options) {
  if (options.window_seconds < 1 || options.window_seconds > kMaxWindowSeconds) {
    return fail(ErrorCode::invalid_argument, fmt::format("a window of {} seconds is out of range: 1 to {}",
                                                         options.window_seconds, kMaxWindowSeconds));
  }
  Limit limit;
  limit.algorithm_ = options.algorithm;
  limit.amount_ = options.amount;
  limit.window_seconds_ = options.window_seconds;
  if (options.algorithm == Algorithm::fixed_window) {
    limit.capacity_ = options.amount;
    limit.count_refused_ = options.count_refused;
    limit.scale_check_ = fold(static_cast<std::uint64_t>(options.window_seconds));
    return limit;
  }
  if (options.amount == 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} needs a rate of at least 1 (fixed_window takes 0, and refuses everything)",
                            to_string(options.algorithm)));
  }
  if (options.burst == 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a burst of 0 admits nothing: 1 to {}", std::numeric_limits<std::uint32_t>::max()));
  }
  const Ticks ticks = choose_ticks(options.amount, options.window_seconds, options.burst);
  limit.capacity_ = options.burst;
  limit.ticks_per_second_ = ticks.per_second;
  limit.ticks_per_cost_ = ticks.per_cost;
  limit.ticks_per_burst_ = ticks.per_cost * options.burst;
  limit.ticks_per_nanosecond_ =
      ticks.per_second % kNanosecondsPerSecond == 0 ? ticks.per_second / kNanosecondsPerSecond : 0;
  limit.scale_check_ = fold(static_cast<std::uint64_t>(ticks.per_second));
  return limit;
}

Limit Limit::original_window(std::uint32_t amount, std::int64_t window_seconds) noexcept {
  PENSTOCK_CHECK(window_seconds >= 1 && window_seconds <= kMaxWindowSeconds);
  Limit limit;
  limit.amount_ = amount;
  limit.capacity_ = amount;
  limit.window_seconds_ = window_seconds;
  limit.count_refused_ = true;
  limit.scale_check_ = fold(static_cast<std::uint64_t>(window_seconds));
  return limit;
}

}  // namespace penstock::algorithm
