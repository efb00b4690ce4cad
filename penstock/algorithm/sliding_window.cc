// Sliding window: the counts of two aligned windows, of which the former weighs as much as of it is still within reach.
// With W the window, e how far into the current one `now` is, and n the cost:
//
//     allowed <=> former*(W-e) + (current+n)*W <= L*W
//
// in nanoseconds and 128 bits, without a division. In any D <= W at most L(1 + D/W) pass: if a of them pass before a
// boundary, and the last at the fraction f after it, then current <= L - a(1-f). Twice the amount needs nearly W.

#include <algorithm>

#include "penstock/algorithm/steps.h"
#include "penstock/algorithm/windows.h"

namespace penstock::algorithm::sliding_window {
namespace {

__extension__ using Wide = unsigned __int128;

struct Windows {
  std::uint64_t index;  // of the current one
  std::uint64_t current;
  std::uint64_t former;

  [[nodiscard]] bool fresh() const { return current == 0 && former == 0; }

  friend bool operator==(const Windows&, const Windows&) = default;
};

Windows unpack(State state) {
  const Window current = Window::unpack(state.word);
  return {.index = current.index, .current = current.count, .former = std::min(state.second, Window::kMaxCount)};
}

State pack(const Windows& windows) {
  return {.word = Window{.index = windows.index, .count = windows.current}.pack(), .second = windows.former};
}

// The windows that count at `now`. As with a fixed window, a clock that stepped back stays in the stored one, unless
// that is more than one ahead: then its counts are taken as the current window's.
Windows current(const Limit& limit, State state, Instant now) {
  const Windows stored = unpack(state);
  const std::uint64_t at_now = window_at(limit, now);
  if (stored.fresh() || stored.index + 1 < at_now) return {.index = at_now, .current = 0, .former = 0};
  if (stored.index + 1 == at_now) return {.index = at_now, .current = 0, .former = stored.current};
  if (stored.index > at_now + 1) return {.index = at_now, .current = stored.current, .former = stored.former};
  return stored;
}

Instant fresh_at(const Limit& limit, const Windows& windows) {
  return end_of_window(limit, windows.current > 0 ? windows.index + 1 : windows.index);
}

// An instant within a current window. Products stay below 2^95: counts are below 2^33, units of cost are only weighed
// up to a limit's amount, and lengths are below 2^60 ns.
class Moment {
 public:
  Moment(const Limit& limit, std::uint64_t index, Instant now)
      : limit_{limit},
        index_{index},
        length_{static_cast<std::uint64_t>(limit.window_seconds() * kNanosecondsPerSecond)},
        reach_{length_},
        now_{now} {
    const Instant at = std::max(now, kStateEpoch);
    const Instant start = start_of_window(limit, index);
    if (at > start) reach_ -= std::min(static_cast<std::uint64_t>((at - start).count()), length_);
  }

  [[nodiscard]] bool fits(const Windows& windows, std::uint64_t cost) const {
    const std::uint64_t amount = limit_.amount();
    if (cost > amount || windows.current > amount - cost) return false;
    return Wide{windows.former} * reach_ <= Wide{amount - cost - windows.current} * length_;
  }

  // What of the former window counts, in whole units, rounded up.
  [[nodiscard]] std::uint64_t within_reach(std::uint64_t former) const {
    return former == 0 ? 0 : static_cast<std::uint64_t>((Wide{former} * reach_ + length_ - 1) / length_);
  }

  // The least wait after which `cost`, which does not fit now but is at most the amount, fits.
  [[nodiscard]] Nanoseconds wait_for(const Windows& windows, std::uint64_t cost) const {
    const std::uint64_t room = limit_.amount() - cost;
    const bool in_this_window = windows.current <= room;
    const Wide left = Wide{in_this_window ? room - windows.current : room} * length_;
    const auto reach = static_cast<std::uint64_t>(left / (in_this_window ? windows.former : windows.current));
    const Instant start = start_of_window(limit_, in_this_window ? index_ : index_ + 1);
    return wait_until(later(start, Nanoseconds{static_cast<std::int64_t>(length_ - reach)}), now_);
  }

  [[nodiscard]] Nanoseconds wait_for_fresh(const Windows& windows) const {
    return windows.fresh() ? Nanoseconds{0} : wait_until(fresh_at(limit_, windows), now_);
  }

 private:
  const Limit& limit_;
  std::uint64_t index_;
  std::uint64_t length_;  // nanoseconds, as the next
  std::uint64_t reach_;   // W - e
  Instant now_;
};

// A counter that is asked something: the limit, its windows before, and when.
struct Asked {
  const Limit& limit;
  const Ask& ask;
  State state;
  Windows windows;
  Moment moment;
};

// What is said and kept with the windows `after`.
Step step_of(const Asked& asked, const Windows& after) {
  const Windows& before = asked.windows;
  const bool charged = after != before;
  const Windows stored = unpack(asked.state);
  const bool brought_back = !stored.fresh() && stored.index > before.index;
  const std::uint64_t reached = asked.moment.within_reach(after.former);
  const std::uint64_t used = after.current + reached;
  const std::uint64_t amount = asked.limit.amount();
  Step step = {.decision = {.charged = charged}, .state = charged || brought_back ? pack(after) : asked.state};
  step.decision.remaining = used >= amount ? 0 : static_cast<std::uint32_t>(amount - used);
  step.decision.reset_after = asked.moment.wait_for_fresh(after);
  step.decision.count_before =
      before.current + (before.former == after.former ? reached : asked.moment.within_reach(before.former));
  return step;
}

Windows debited(Windows windows, std::uint64_t cost) {
  windows.current = saturated(windows.current, cost);
  return windows;
}

Windows refunded(Windows windows, const Limit& limit, const Ask& ask) {
  const std::uint64_t index = ask.charged_at >= ask.now ? windows.index : window_at(limit, ask.charged_at);
  if (index == windows.index) windows.current -= std::min(ask.cost, windows.current);
  if (index + 1 == windows.index) windows.former -= std::min(ask.cost, windows.former);
  return windows;
}

Step refuse(const Asked& asked) {
  const std::uint64_t cost = asked.ask.cost;
  const bool counted = asked.limit.counts_refused() && asked.ask.verb == Verb::decide && cost > 0;
  const Windows after = counted ? debited(asked.windows, cost) : asked.windows;
  const std::uint64_t least = std::max<std::uint64_t>(cost, 1);
  const bool never = least > asked.limit.amount();
  Step step = step_of(asked, after);
  step.decision.outcome = never ? Outcome::never : Outcome::denied;
  step.decision.retry_after = never ? Decision::kNever : asked.moment.wait_for(after, least);
  return step;
}

Step decide(const Asked& asked) {
  const std::uint64_t cost = asked.ask.cost;
  if (!asked.moment.fits(asked.windows, std::max<std::uint64_t>(cost, 1))) return refuse(asked);
  const bool only_looks = asked.ask.verb == Verb::look || cost == 0;
  return step_of(asked, only_looks ? asked.windows : debited(asked.windows, cost));
}

}  // namespace

Step apply(const Limit& limit, State state, const Ask& ask) noexcept {
  const Windows windows = current(limit, state, ask.now);
  const Asked asked{limit, ask, state, windows, Moment{limit, windows.index, ask.now}};
  switch (ask.verb) {
    case Verb::decide:
    case Verb::look: return decide(asked);
    case Verb::refund: return step_of(asked, refunded(windows, limit, ask));
    case Verb::debit: return step_of(asked, debited(windows, ask.cost));
  }
  __builtin_unreachable();
}

Instant fresh_at(const Limit& limit, State state) noexcept {
  const Windows stored = unpack(state);
  return stored.fresh() ? kStateEpoch : fresh_at(limit, stored);
}

State rebuild(const Limit&, Instant, Instant) noexcept { return {}; }

}  // namespace penstock::algorithm::sliding_window
