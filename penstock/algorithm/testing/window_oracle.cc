#include <algorithm>

#include "penstock/algorithm/testing/oracle.h"

namespace penstock::algorithm::testing {

namespace {

constexpr Wide kMostCounted = (Wide{1} << 33) - 1;

}  // namespace

std::int64_t WindowHistory::window_of(Instant instant) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::max(instant, kStateEpoch)).time_since_epoch();
  return seconds.count() / window_seconds_;
}

Wide WindowHistory::count(std::int64_t window) const {
  Wide sum = 0;
  for (const Past& past : past_) sum += past.window == window ? past.cost : 0;
  return sum;
}

Wide WindowHistory::counted() const {
  Wide sum = 0;
  for (std::int64_t back = 0; back < windows_that_count_; ++back) sum += count(last_ - back);
  return sum;
}

std::int64_t WindowHistory::current(Instant now) const {
  const std::int64_t window = window_of(now);
  return last_ == window + 1 && counted() > 0 ? last_ : window;
}

void WindowHistory::witness(Instant now) {
  const std::int64_t back = last_ - window_of(now);
  if (back <= 1 || counted() == 0) return;
  for (Past& past : past_) past.window -= back;
  last_ -= back;
}

void WindowHistory::move_on_to(std::int64_t window) {
  last_ = window;
  std::erase_if(past_, [&](const Past& past) { return past.window <= last_ - windows_that_count_; });
}

void WindowHistory::charge(std::uint64_t cost, Instant now) {
  witness(now);
  move_on_to(current(now));
  past_.push_back({.window = last_, .cost = std::min(Wide{cost}, kMostCounted - count(last_))});
}

void WindowHistory::refund(std::uint64_t cost, Instant now, Instant charged_at) {
  witness(now);
  const std::int64_t window = charged_at >= now ? current(now) : window_of(charged_at);
  if (window > current(now) || window <= current(now) - windows_that_count_) return;
  const Wide given_back = std::min(Wide{cost}, count(window));
  if (given_back == 0) return;
  move_on_to(current(now));
  past_.push_back({.window = window, .cost = -given_back});
}

namespace {

void record(WindowHistory& history, const LimitOptions& options, const Ask& ask, bool admitted) {
  if (ask.verb == Verb::look) return;
  history.witness(ask.now);
  if (ask.cost == 0) return;
  if (ask.verb == Verb::refund) history.refund(ask.cost, ask.now, ask.charged_at);
  const bool charges = ask.verb == Verb::debit || (ask.verb == Verb::decide && (admitted || options.count_refused));
  if (charges) history.charge(ask.cost, ask.now);
}

Expectation expect_of_admission(const LimitOptions& options, const Ask& ask, bool fits) {
  if (fits || ask.verb == Verb::refund || ask.verb == Verb::debit) return {};
  const bool original_look = ask.cost == 0 && options.count_refused && options.algorithm == Algorithm::fixed_window;
  const bool never = std::max<std::uint64_t>(ask.cost, original_look ? 0 : 1) > options.amount;
  return {.outcome = never ? Outcome::never : Outcome::denied,
          .retry_after = never ? Decision::kNever : Nanoseconds{0}};
}

std::uint32_t rest(const LimitOptions& options, Wide used) {
  return static_cast<std::uint32_t>(std::max(options.amount - used, Wide{0}));
}

// The first instant from `from` on at which `holds` does, which then keeps doing so.
template <class Predicate>
Instant first(Instant from, Nanoseconds within, Predicate holds) {
  if (holds(from)) return from;
  Instant low = from, high = from + within;
  while (high - low > Nanoseconds{1}) {
    const Instant middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

Expectation FixedWindowOracle::expect(const Ask& ask) const {
  WindowHistory seen = history_;
  seen.witness(ask.now);
  const std::int64_t window = seen.current(ask.now);
  const Wide before = seen.count(window);
  const Wide amount = options_.amount;
  const bool look_fits = options_.count_refused ? before <= amount : before < amount;
  const bool fits = ask.cost == 0 ? look_fits : before + Wide{ask.cost} <= amount;
  Expectation expected = expect_of_admission(options_, ask, fits);
  record(seen, options_, ask, fits);
  const Wide after = seen.count(window);
  expected.count_before = static_cast<std::uint64_t>(before);
  expected.remaining = rest(options_, after);
  const Nanoseconds to_end = seen.end_of(window) - ask.now;
  if (after > 0) expected.reset_after = to_end;
  if (expected.outcome == Outcome::denied) expected.retry_after = to_end;
  return expected;
}

void FixedWindowOracle::happened(const Ask& ask, const Expectation& answer) {
  record(history_, options_, ask, answer.outcome == Outcome::allowed);
}

Expectation SlidingWindowOracle::expect(const Ask& ask) const {
  const Wide length = Wide{options_.window_seconds} * 1'000'000'000;
  // Units x nanoseconds.
  const auto weighed = [&](const WindowHistory& history, Instant now) {
    const std::int64_t window = history.current(now);
    const Instant start = history.end_of(window - 1);
    const Wide into = (std::max(now, start) - start).count();
    return history.count(window - 1) * (length - into) + history.count(window) * length;
  };
  const auto fits = [&](const WindowHistory& history, Instant now) {
    return weighed(history, now) + Wide{std::max<std::uint64_t>(ask.cost, 1)} * length <= options_.amount * length;
  };
  const auto rounded_up = [&](Wide units_nanoseconds) { return (units_nanoseconds + length - 1) / length; };

  WindowHistory seen = history_;
  seen.witness(ask.now);
  const bool admitted = fits(seen, ask.now);
  Expectation expected = expect_of_admission(options_, ask, admitted);
  expected.count_before = static_cast<std::uint64_t>(rounded_up(weighed(seen, ask.now)));
  record(seen, options_, ask, admitted);
  expected.remaining = rest(options_, rounded_up(weighed(seen, ask.now)));
  const Nanoseconds all{static_cast<std::int64_t>(3 * length)};
  const auto fresh = [&](Instant at) { return weighed(seen, at) == 0; };
  expected.reset_after = first(ask.now, all, fresh) - ask.now;
  if (expected.outcome == Outcome::denied) {
    expected.retry_after = first(ask.now, all, [&](Instant at) { return fits(seen, at); }) - ask.now;
  }
  return expected;
}

void SlidingWindowOracle::happened(const Ask& ask, const Expectation& answer) {
  record(history_, options_, ask, answer.outcome == Outcome::allowed);
}

}  // namespace penstock::algorithm::testing
