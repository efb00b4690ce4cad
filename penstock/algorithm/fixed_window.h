#pragma once

// Fixed window: aligned windows of W seconds since the Unix epoch, a count each; at most L in a window, so at most 2L
// in any W. `count_refused` keeps the habit of envoyproxy/ratelimit: every cost is counted, and what does not fit is
// refused in full.

#include <algorithm>

#include "penstock/algorithm/steps.h"
#include "penstock/algorithm/windows.h"

namespace penstock::algorithm::fixed_window {

// The window that counts at `now`. A clock that stepped back stays in the stored window; one window ahead may be such a
// step at a boundary, or another loop's clock; more can only be a clock that had run away, and its count is taken as
// the current window's.
inline Window current(const Limit& limit, State state, Instant now) {
  const Window stored = Window::unpack(state.word);
  const std::uint64_t at_now = window_at(limit, now);
  if (stored.count == 0 || stored.index < at_now) return {.index = at_now, .count = 0};
  if (stored.index > at_now + 1) return {.index = at_now, .count = stored.count};
  return stored;
}

inline Nanoseconds wait_for_end(const Limit& limit, const Window& window, Instant now) {
  return wait_until(end_of_window(limit, window.index), now);
}

// What is kept where nothing is charged.
inline State unchanged(State state, const Window& window) {
  const Window stored = Window::unpack(state.word);
  const bool brought_back = stored.count > 0 && stored.index > window.index;
  return brought_back ? State{.word = window.pack()} : state;
}

inline Decision describe(const Limit& limit, const Window& before, const Window& after, Instant now) {
  const std::uint64_t amount = limit.amount();
  Decision decision;
  decision.count_before = before.count;
  decision.remaining = static_cast<std::uint32_t>(after.count >= amount ? 0 : amount - after.count);
  decision.reset_after = after.count == 0 ? Nanoseconds::zero() : wait_for_end(limit, after, now);
  return decision;
}

inline bool fits(const Limit& limit, const Window& window, std::uint64_t cost) {
  const std::uint64_t amount = limit.amount();
  if (cost == 0 && !limit.counts_refused()) return window.count < amount;
  return window.count <= amount && cost <= amount - window.count;
}

inline Step decide(const Limit& limit, State state, const Window& window, Instant now, std::uint64_t cost, bool keep) {
  const bool allowed = fits(limit, window, cost);
  const bool counted = !keep && cost > 0 && (allowed || limit.counts_refused());
  const Window after = {.index = window.index, .count = counted ? saturated(window.count, cost) : window.count};
  Step step = {.decision = describe(limit, window, after, now),
               .state = counted ? State{.word = after.pack()} : unchanged(state, window)};
  step.decision.charged = after.count != window.count;
  if (allowed) return step;
  // A look at a window that counts refused cost passes again once the window is over, even where the amount is 0.
  const std::uint64_t asked = limit.counts_refused() ? cost : std::max<std::uint64_t>(cost, 1);
  const bool never = asked > limit.amount();
  step.decision.outcome = never ? Outcome::never : Outcome::denied;
  step.decision.retry_after = never ? Decision::kNever : wait_for_end(limit, window, now);
  return step;
}

inline Step refund(const Limit& limit, State state, const Window& window, Instant now, std::uint64_t cost,
                   Instant charged_at) {
  // What was charged just now is in the window that counts now, also where the clock stepped back and that is the next.
  const bool same_window = window.count > 0 && (charged_at >= now || window_at(limit, charged_at) == window.index);
  if (!same_window || cost == 0)
    return {.decision = describe(limit, window, window, now), .state = unchanged(state, window)};
  const Window after = {.index = window.index, .count = window.count - std::min(cost, window.count)};
  Step step = {.decision = describe(limit, window, after, now), .state = State{.word = after.pack()}};
  step.decision.charged = true;
  return step;
}

inline Step debit(const Limit& limit, State state, const Window& window, Instant now, std::uint64_t cost) {
  const Window after = {.index = window.index, .count = saturated(window.count, cost)};
  Step step = {.decision = describe(limit, window, after, now),
               .state = cost > 0 ? State{.word = after.pack()} : unchanged(state, window)};
  step.decision.charged = after.count != window.count;
  return step;
}

inline Step apply(const Limit& limit, State state, const Ask& ask) noexcept {
  const Window window = current(limit, state, ask.now);
  switch (ask.verb) {
    case Verb::decide: return decide(limit, state, window, ask.now, ask.cost, false);
    case Verb::look: return decide(limit, state, window, ask.now, ask.cost, true);
    case Verb::refund: return refund(limit, state, window, ask.now, ask.cost, ask.charged_at);
    case Verb::debit: return debit(limit, state, window, ask.now, ask.cost);
  }
  __builtin_unreachable();
}

inline Instant fresh_at(const Limit& limit, State state) noexcept {
  const Window stored = Window::unpack(state.word);
  return stored.count == 0 ? kStateEpoch : end_of_window(limit, stored.index);
}

inline State rebuild(const Limit&, Instant, Instant) noexcept { return {}; }

}  // namespace penstock::algorithm::fixed_window
