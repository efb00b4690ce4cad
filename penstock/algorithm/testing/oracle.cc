#include "penstock/algorithm/testing/oracle.h"

#include <algorithm>

namespace penstock::algorithm::testing {
namespace {

Wide divided_rounding_up(Wide value, Wide divisor) { return (value + divisor - 1) / divisor; }

}  // namespace

Wide BucketOracle::advanced(Wide level, Nanoseconds elapsed) const {
  return std::min(level + Wide{elapsed.count()} * options_.amount, capacity());
}

Wide BucketOracle::after(const Past& past, Wide level) const {
  const Wide cost = Wide{past.cost} * token();
  const Wide second = Wide{options_.amount} * 1'000'000'000;
  if (level < -second) level = 0;
  switch (past.event) {
    case Event::charge: return level - cost;
    case Event::refund: return std::min(level + std::min(cost, capacity()), capacity());
    case Event::debit: return std::max(level - cost, std::min(level, Wide{0}));
    case Event::witness: return level;
  }
  __builtin_unreachable();
}

void BucketOracle::witness(Instant now) {
  const bool ran_away = level(now) < -Wide{options_.amount} * 1'000'000'000;
  if (ran_away) past_.push_back({Event::witness, 0, now});
}

Wide BucketOracle::level(Instant now) const {
  Wide level = capacity();
  Instant at = now;
  for (const Past& past : past_) {
    if (&past != past_.data()) level = advanced(level, past.at - at);
    level = after(past, level);
    at = past.at;
  }
  return advanced(level, now - at);
}

Expectation BucketOracle::expect(std::uint64_t cost, Instant now, Wide lenience) const {
  const Wide second = Wide{options_.amount} * 1'000'000'000;
  Wide level = std::min(this->level(now) + lenience, capacity());
  if (level < -second) level = 0;
  const auto time_to_gain = [&](Wide credits) {
    const Wide most = (Instant::max() - now).count();
    return Nanoseconds{static_cast<std::int64_t>(std::min(divided_rounding_up(credits, options_.amount), most))};
  };
  Expectation expected;
  const Wide asked = Wide{std::max<std::uint64_t>(cost, 1)} * token();
  if (asked > capacity()) {
    expected.outcome = Outcome::never;
    expected.retry_after = Decision::kNever;
  } else if (asked > level) {
    expected.outcome = Outcome::denied;
    expected.retry_after = time_to_gain(asked - level);
  } else {
    level -= Wide{cost} * token();
  }
  expected.remaining = static_cast<std::uint32_t>(std::max(level, Wide{0}) / token());
  expected.reset_after = time_to_gain(capacity() - level);
  return expected;
}

std::int64_t WindowOracle::window_of(Instant instant) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::max(instant, kStateEpoch)).time_since_epoch();
  return seconds.count() / options_.window_seconds;
}

Wide WindowOracle::count(std::int64_t window) const {
  Wide sum = 0;
  for (const Past& past : past_) sum += past.window == window ? past.cost : 0;
  return sum;
}

std::int64_t WindowOracle::current(Instant now) const {
  const std::int64_t next = window_of(now) + 1;
  return count(next) > 0 ? next : next - 1;
}

// Moves what lies beyond the next window into the current one.
void WindowOracle::witness(Instant now) {
  const std::int64_t window = window_of(now);
  std::int64_t last = 0;
  for (const Past& past : past_) last = std::max(last, count(past.window) > 0 ? past.window : 0);
  if (last <= window + 1) return;
  const Wide moved = count(last);
  past_.clear();
  past_.push_back({.window = window, .cost = moved});
}

void WindowOracle::charge(std::uint64_t cost, Instant now) {
  witness(now);
  const std::int64_t window = current(now);
  std::erase_if(past_, [&](const Past& past) { return past.window < window; });
  past_.push_back({.window = window, .cost = Wide{cost}});
}

void WindowOracle::refund(std::uint64_t cost, Instant now, Instant charged_at) {
  witness(now);
  const std::int64_t window = current(now);
  if (charged_at < now && window_of(charged_at) != window) return;
  past_.push_back({.window = window, .cost = -std::min(Wide{cost}, count(window))});
}

Expectation WindowOracle::expect(std::uint64_t cost, Instant now) const {
  WindowOracle seen = *this;
  seen.witness(now);
  const std::int64_t window = seen.current(now);
  const Wide before = seen.count(window);
  const Wide amount = options_.amount;
  const Instant end = instant_from_unix_seconds((window + 1) * options_.window_seconds);
  const bool look_fits = options_.count_refused ? before <= amount : before < amount;
  const bool fits = cost == 0 ? look_fits : before + Wide{cost} <= amount;
  const bool ever_fits = Wide{cost} <= amount && (cost > 0 || options_.count_refused || amount > 0);
  Expectation expected;
  expected.count_before = static_cast<std::uint64_t>(before);
  const Wide after = fits || options_.count_refused ? before + Wide{cost} : before;
  expected.remaining = static_cast<std::uint32_t>(std::max(amount - after, Wide{0}));
  if (after > 0) expected.reset_after = end - now;
  if (fits) return expected;
  expected.outcome = ever_fits ? Outcome::denied : Outcome::never;
  expected.retry_after = ever_fits ? end - now : Decision::kNever;
  return expected;
}

}  // namespace penstock::algorithm::testing
