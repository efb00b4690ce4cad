// Fixed window: aligned windows of W seconds since the Unix epoch, a count each; at most L in a window, so at most 2L
// in any W. `count_refused` keeps the habit of envoyproxy/ratelimit: every cost is counted, and what does not fit is
// refused in full.

#include <algorithm>

#include "penstock/algorithm/steps.h"

namespace penstock::algorithm::fixed_window {
namespace {

constexpr int kCountBits = 33;
constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << kCountBits) - 1;  // above every uint32 limit
constexpr std::uint64_t kMaxWindow = (std::uint64_t{1} << 31) - 1;

struct Window {
  std::uint64_t index;  // since the window that holds kStateEpoch
  std::uint64_t count;
};

Window unpack(State state) { return {.index = state.word >> kCountBits, .count = state.word & kMaxCount}; }

State pack(Window window) { return {.word = window.index << kCountBits | window.count}; }

constexpr std::int64_t kEpochSeconds = kStateEpoch.time_since_epoch().count() / 1'000'000'000;

std::int64_t first_window(const Limit& limit) { return kEpochSeconds / limit.window_seconds(); }

std::uint64_t window_at(const Limit& limit, Instant instant) {
  const std::int64_t seconds = kEpochSeconds + since_state_epoch(instant).count() / 1'000'000'000;
  const auto index = static_cast<std::uint64_t>(seconds / limit.window_seconds() - first_window(limit));
  return std::min(index, kMaxWindow);
}

Instant end_of(const Limit& limit, std::uint64_t index) {
  const std::int64_t window = first_window(limit) + static_cast<std::int64_t>(index) + 1;
  std::int64_t seconds = 0;
  const bool beyond = __builtin_mul_overflow(window, limit.window_seconds(), &seconds) ||
                      seconds > Instant::max().time_since_epoch().count() / 1'000'000'000;
  return beyond ? Instant::max() : instant_from_unix_seconds(seconds);
}

// The window that counts at `now`. A clock that stepped back stays in the stored window; one window ahead may be such a
// step at a boundary, or another loop's clock; more can only be a clock that had run away, and its count is taken as
// the current window's.
Window current(const Limit& limit, State state, Instant now) {
  const Window stored = unpack(state);
  const std::uint64_t at_now = window_at(limit, now);
  if (stored.count == 0 || stored.index < at_now) return {.index = at_now, .count = 0};
  if (stored.index > at_now + 1) return {.index = at_now, .count = stored.count};
  return stored;
}

Nanoseconds wait_for_end(const Limit& limit, const Window& window, Instant now) {
  return wait_until(end_of(limit, window.index), now);
}

// What is kept where nothing is charged.
State unchanged(State state, const Window& window) {
  const Window stored = unpack(state);
  const bool brought_back = stored.count > 0 && stored.index > window.index;
  return brought_back ? pack(window) : state;
}

std::uint64_t saturated(std::uint64_t count, std::uint64_t cost) {
  return cost > kMaxCount - count ? kMaxCount : count + cost;
}

Decision describe(const Limit& limit, const Window& before, const Window& after, Instant now) {
  const std::uint64_t amount = limit.amount();
  Decision decision;
  decision.count_before = before.count;
  decision.remaining = static_cast<std::uint32_t>(after.count >= amount ? 0 : amount - after.count);
  decision.reset_after = after.count == 0 ? Nanoseconds::zero() : wait_for_end(limit, after, now);
  return decision;
}

bool fits(const Limit& limit, const Window& window, std::uint64_t cost) {
  const std::uint64_t amount = limit.amount();
  if (cost == 0 && !limit.counts_refused()) return window.count < amount;
  return window.count <= amount && cost <= amount - window.count;
}

Step decide(const Limit& limit, State state, const Window& window, Instant now, std::uint64_t cost, bool keep) {
  const bool allowed = fits(limit, window, cost);
  const bool counted = !keep && cost > 0 && (allowed || limit.counts_refused());
  const Window after = {.index = window.index, .count = counted ? saturated(window.count, cost) : window.count};
  Step step = {.decision = describe(limit, window, after, now),
               .state = counted ? pack(after) : unchanged(state, window)};
  step.decision.charged = counted;
  if (allowed) return step;
  // A look at a window that counts refused cost passes again once the window is over, even where the amount is 0.
  const std::uint64_t asked = limit.counts_refused() ? cost : std::max<std::uint64_t>(cost, 1);
  const bool never = asked > limit.amount();
  step.decision.outcome = never ? Outcome::never : Outcome::denied;
  step.decision.retry_after = never ? Decision::kNever : wait_for_end(limit, window, now);
  return step;
}

Step refund(const Limit& limit, State state, const Window& window, Instant now, std::uint64_t cost,
            Instant charged_at) {
  // What was charged just now is in the window that counts now, also where the clock stepped back and that is the next.
  const bool same_window = window.count > 0 && (charged_at >= now || window_at(limit, charged_at) == window.index);
  if (!same_window || cost == 0)
    return {.decision = describe(limit, window, window, now), .state = unchanged(state, window)};
  const Window after = {.index = window.index, .count = window.count - std::min(cost, window.count)};
  Step step = {.decision = describe(limit, window, after, now), .state = pack(after)};
  step.decision.charged = true;
  return step;
}

Step debit(const Limit& limit, State state, const Window& window, Instant now, std::uint64_t cost) {
  const Window after = {.index = window.index, .count = saturated(window.count, cost)};
  Step step = {.decision = describe(limit, window, after, now),
               .state = cost > 0 ? pack(after) : unchanged(state, window)};
  step.decision.charged = cost > 0;
  return step;
}

}  // namespace

Step apply(const Limit& limit, Verb verb, State state, Instant now, std::uint64_t cost, Instant charged_at) noexcept {
  const Window window = current(limit, state, now);
  switch (verb) {
    case Verb::decide: return decide(limit, state, window, now, cost, false);
    case Verb::look: return decide(limit, state, window, now, cost, true);
    case Verb::refund: return refund(limit, state, window, now, cost, charged_at);
    case Verb::debit: return debit(limit, state, window, now, cost);
  }
  __builtin_unreachable();
}

Instant fresh_at(const Limit& limit, State state) noexcept {
  const Window stored = unpack(state);
  return stored.count == 0 ? kStateEpoch : end_of(limit, stored.index);
}

std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept {
  const Window window = current(limit, state, now);
  if (window.count == 0) return 0;
  if (window.count >= limit.amount()) return 255;
  return static_cast<std::uint8_t>(std::max<std::uint64_t>(window.count * 255 / limit.amount(), 1));
}

State rebuild(const Limit&, Instant, Instant) noexcept { return {}; }

}  // namespace penstock::algorithm::fixed_window
