#pragma once

#include <cstdint>

#include "penstock/algorithm/algorithm.h"

// What the algorithms share, and those of two words; `algorithm.h` says what every function means. Outside of the
// algorithms only algorithm.cc includes this.

namespace penstock::algorithm {

// Held at Instant::max(). Requires: `wait` is not negative.
[[nodiscard]] inline Instant later(Instant instant, Nanoseconds wait) noexcept {
  return instant > Instant::max() - wait ? Instant::max() : instant + wait;
}

// The wait from `now` until `then`, at least a nanosecond (beyond the range of time both may be held at its end), at
// most what fits.
[[nodiscard]] inline Nanoseconds wait_until(Instant then, Instant now) noexcept {
  std::int64_t wait = 0;
  if (__builtin_sub_overflow(then.time_since_epoch().count(), now.time_since_epoch().count(), &wait)) {
    return Nanoseconds::max();
  }
  return Nanoseconds{wait < 1 ? 1 : wait};
}

}  // namespace penstock::algorithm

namespace penstock::algorithm::sliding_log {

[[nodiscard]] Step apply(const Limit& limit, State state, const Ask& ask, LogPlaces places) noexcept;
[[nodiscard]] Instant fresh_at(const Limit& limit, State state, LogPlaces places) noexcept;

}  // namespace penstock::algorithm::sliding_log

namespace penstock::algorithm::sliding_window {

[[nodiscard]] Step apply(const Limit& limit, State state, const Ask& ask) noexcept;
[[nodiscard]] Instant fresh_at(const Limit& limit, State state) noexcept;
[[nodiscard]] State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept;

}  // namespace penstock::algorithm::sliding_window
