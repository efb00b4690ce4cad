#pragma once

#include <cstdint>

#include "penstock/algorithm/algorithm.h"

// The algorithms themselves, one file each; `algorithm.h` says what every function means. Only algorithm.cc includes
// this.

namespace penstock::algorithm {

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

namespace penstock::algorithm::fixed_window {

[[nodiscard]] Step apply(const Limit& limit, Verb verb, State state, Instant now, std::uint64_t cost,
                         Instant charged_at) noexcept;
[[nodiscard]] Instant fresh_at(const Limit& limit, State state) noexcept;
[[nodiscard]] std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept;
[[nodiscard]] State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept;

}  // namespace penstock::algorithm::fixed_window

namespace penstock::algorithm::gcra {

[[nodiscard]] Step apply(const Limit& limit, Verb verb, State state, Instant now, std::uint64_t cost,
                         Instant charged_at) noexcept;
[[nodiscard]] Instant fresh_at(const Limit& limit, State state) noexcept;
[[nodiscard]] std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept;
[[nodiscard]] State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept;

}  // namespace penstock::algorithm::gcra
