#pragma once

#include <cstdint>
#include <type_traits>

#include "penstock/algorithm/decision.h"
#include "penstock/algorithm/limit.h"
#include "penstock/algorithm/log_entry.h"
#include "penstock/base/instant.h"

namespace penstock::algorithm {

// What a store keeps of one counter. All zero is a fresh counter, for every algorithm.
//   fixed_window  31 bits of window (counted from the one that holds kStateEpoch), 33 bits of saturating count
//   buckets       theoretical arrival time in the limit's ticks since kStateEpoch (ITU-T I.371, virtual scheduling);
//                 with a peak, that of the peak in its ticks in the second word
//   sliding_window  31 bits of window, 33 bits of its saturating count; the former window's count in the second word
//   sliding_log   see sliding_log.h
struct State {
  std::uint64_t word = 0;
  std::uint64_t second = 0;  // 0 where Limit::state_words() is 1

  friend bool operator==(const State&, const State&) = default;
};

static_assert(std::is_trivially_copyable_v<State>);

struct Step {
  Decision decision;
  State state;  // to be kept; see `apply` for when it differs from the state before
};

// One question to a counter.
struct Ask {
  Verb verb = Verb::decide;
  bool accepts_wait = false;  // the caller holds its work back for as long as the decision says
  std::uint64_t cost = 0;
  Instant now;
  Instant charged_at = Instant::max();  // refund only: when the cost was charged; from `now` on: just now
};

// Answers `ask` for a counter in `state`. Pure; the caller makes it atomic.
//   - Denied or never: the state is unchanged, unless the limit counts refused cost. Then `decide` debits it, and its
//     remaining and waits are those after the debit: a bucket is empty at most, a window counts everything, and in a
//     log what there is no room for takes the place of the oldest. So who keeps asking keeps being refused.
//   - A clock that steps back refills nothing; a bucket even seems emptier by the step until the clock has caught up.
//   - What is stored further ahead than a full counter can reach, by more than a second (windows and logs: by more than
//     a window), is brought back to there, so that a clock that jumped ahead and back stalls nobody for longer. This
//     alone changes the state where `charged` is false; unless it is kept, every refusal starts the wait anew. A look
//     need not be kept.
//   - A look (cost 0) is refused when nothing remains; on a fixed_window that counts refused cost only when more than
//     the amount was counted, as in envoyproxy/ratelimit.
//   - A limit with a max_wait admits who accepts a wait where the least wait is no longer than that: the cost is
//     charged at once, the decision is `allowed`, and `retry_after` says how long to hold the work back. Others are
//     admitted, from the same state, where there is no wait.
// `places` matters to sliding logs alone (sliding_log.h): where the state's entries are kept.
// Threading: any. Cost: tens of nanoseconds, no allocation.
[[nodiscard]] Step apply(const Limit& limit, State state, const Ask& ask, LogPlaces places = {}) noexcept;

[[nodiscard]] inline Step decide(const Limit& limit, State state, Instant now, std::uint64_t cost) noexcept {
  return apply(limit, state, {.cost = cost, .now = now});
}
[[nodiscard]] inline Step look(const Limit& limit, State state, Instant now, std::uint64_t cost) noexcept {
  return apply(limit, state, {.verb = Verb::look, .cost = cost, .now = now});
}

// The least instant from which the counter is as good as fresh; kStateEpoch for a fresh one. What a store needs to
// reuse a place, and to rebuild a state under another scale. `places` as for `apply`.
[[nodiscard]] Instant fresh_at(const Limit& limit, State state, LogPlaces places = {}) noexcept;

// How much of a bucket is used at `now`, with a peak of the rate that is used more: 0 (fresh) to 255 (nothing remains).
// Requires: limit.is_bucket().
[[nodiscard]] std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept;

// The state of a counter whose former limit had another scale: it becomes fresh when it would have become fresh
// before, rounded up, but no later than a full burst of the new limit from `now`. A window starts empty: its length
// is part of the counter's identity, so this happens to one only when a store was handed a foreign state. All sliding
// logs have one scale.
[[nodiscard]] State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept;

}  // namespace penstock::algorithm
