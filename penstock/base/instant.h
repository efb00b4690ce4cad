#pragma once

#include <chrono>
#include <cstdint>

namespace penstock {

// The clock of all decisions: nanoseconds since the Unix epoch. It has no now(): only the room `server` reads the
// machine's clocks and hands an Instant down. An instant of another clock does not convert to it.
struct UnixClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<UnixClock, duration>;
  static constexpr bool is_steady = false;
};

inline constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

using Instant = UnixClock::time_point;
using Nanoseconds = std::chrono::nanoseconds;

[[nodiscard]] constexpr Instant instant_from_unix_seconds(std::int64_t seconds) noexcept {
  return Instant{std::chrono::seconds{seconds}};
}

// What stores keep counts from this instant, 2025-01-01T00:00:00Z; anything earlier is taken as this instant.
inline constexpr Instant kStateEpoch = instant_from_unix_seconds(1'735'689'600);

// Time since kStateEpoch, never negative.
[[nodiscard]] constexpr Nanoseconds since_state_epoch(Instant instant) noexcept {
  return instant < kStateEpoch ? Nanoseconds::zero() : instant - kStateEpoch;
}

}  // namespace penstock
