#pragma once

#include <algorithm>
#include <cstdint>

#include "penstock/algorithm/limit.h"
#include "penstock/base/instant.h"

// Aligned windows of whole seconds, and how a word holds the count of one: 31 bits of window, counted from the one that
// holds kStateEpoch, and 33 bits of count, so that a saturated count is above every uint32 amount.

namespace penstock::algorithm {

struct Window {
  static constexpr int kCountBits = 33;
  static constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << kCountBits) - 1;
  static constexpr std::uint64_t kMaxIndex = (std::uint64_t{1} << 31) - 1;

  std::uint64_t index = 0;
  std::uint64_t count = 0;

  [[nodiscard]] static Window unpack(std::uint64_t word) noexcept {
    return {.index = word >> kCountBits, .count = word & kMaxCount};
  }
  [[nodiscard]] std::uint64_t pack() const noexcept { return index << kCountBits | count; }
};

[[nodiscard]] inline std::uint64_t saturated(std::uint64_t count, std::uint64_t cost) noexcept {
  return cost > Window::kMaxCount - count ? Window::kMaxCount : count + cost;
}

inline constexpr std::int64_t kEpochSeconds = kStateEpoch.time_since_epoch().count() / kNanosecondsPerSecond;

[[nodiscard]] inline std::uint64_t window_at(const Limit& limit, Instant instant) noexcept {
  const std::int64_t length = limit.window_seconds();
  const std::int64_t seconds = kEpochSeconds + since_state_epoch(instant).count() / kNanosecondsPerSecond;
  return std::min(static_cast<std::uint64_t>(seconds / length - kEpochSeconds / length), Window::kMaxIndex);
}

// Held at Instant::max().
[[nodiscard]] inline Instant start_of_window(const Limit& limit, std::uint64_t index) noexcept {
  constexpr std::int64_t kLastSecond = Instant::max().time_since_epoch().count() / kNanosecondsPerSecond;
  const std::int64_t length = limit.window_seconds();
  const std::int64_t window = kEpochSeconds / length + static_cast<std::int64_t>(index);
  std::int64_t seconds = 0;
  const bool beyond = __builtin_mul_overflow(window, length, &seconds) || seconds > kLastSecond;
  return beyond ? Instant::max() : instant_from_unix_seconds(seconds);
}

[[nodiscard]] inline Instant end_of_window(const Limit& limit, std::uint64_t index) noexcept {
  return start_of_window(limit, index + 1);
}

}  // namespace penstock::algorithm
