#pragma once

#include <cstdint>
#include <type_traits>

#include "penstock/algorithm/decision.h"
#include "penstock/algorithm/limit.h"
#include "penstock/base/instant.h"

namespace penstock::algorithm {

// What a store keeps of one counter. All zero is a fresh counter, for every algorithm.
//   fixed_window  31 bits of window (counted from the one that holds kStateEpoch), 33 bits of saturating count
//   gcra          theoretical arrival time in the limit's ticks since kStateEpoch (ITU-T I.371, virtual scheduling)
struct State {
  std::uint64_t word = 0;

  friend bool operator==(State, State) = default;
};

static_assert(std::is_trivially_copyable_v<State>);

struct Step {
  Decision decision;
  State state;  // to be kept; see `apply` for when it differs from the state before
};

// Applies `verb` to a counter in `state` at `now`. Pure; the caller makes it atomic.
//   - Denied or never: the state is unchanged, but for a window that counts refused cost.
//   - A clock that steps back refills nothing; a bucket even seems emptier by the step until the clock has caught up.
//   - What is stored further ahead than a full counter can reach, by more than a second (a window: by more than one),
//   is
//     brought back to there, so that a clock that jumped ahead and back stalls nobody for longer. This alone changes
//     the state where `charged` is false; unless it is kept, every refusal starts the wait anew. A look need not be
//     kept.
//   - A look (cost 0) is refused when nothing remains; on a window that counts refused cost only when more than the
//     amount was counted, as in envoyproxy/ratelimit.
//   - `charged_at` matters to `refund` alone: when the cost was charged.
// Threading: any. Cost: tens of nanoseconds, no allocation.
[[nodiscard]] Step apply(const Limit& limit, Verb verb, State state, Instant now, std::uint64_t cost,
                         Instant charged_at) noexcept;

[[nodiscard]] inline Step decide(const Limit& limit, State state, Instant now, std::uint64_t cost) noexcept {
  return apply(limit, Verb::decide, state, now, cost, now);
}
[[nodiscard]] inline Step look(const Limit& limit, State state, Instant now, std::uint64_t cost) noexcept {
  return apply(limit, Verb::look, state, now, cost, now);
}

// The least instant from which the counter is as good as fresh; kStateEpoch for a fresh one. What a store needs to
// reuse a place, and to rebuild a state under another scale.
[[nodiscard]] Instant fresh_at(const Limit& limit, State state) noexcept;

// How much of the limit is used at `now`, 0 (fresh) to 255 (nothing remains, or more than counted).
[[nodiscard]] std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept;

// The state of a counter whose former limit had another scale: it becomes fresh when it would have become fresh
// before, rounded up, but no later than a full burst of the new limit from `now`. A window starts empty: its length
// is part of the counter's identity, so this happens to one only when a store was handed a foreign state.
[[nodiscard]] State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept;

}  // namespace penstock::algorithm
