#include "penstock/algorithm/testing/log_oracle.h"

#include <algorithm>

namespace penstock::algorithm::testing {

Wide LogOracle::sum(Instant now) const {
  Wide sum = 0;
  for (const Past& past : past_) sum += counts(past.at, now) ? past.cost : 0;
  return sum;
}

Wide LogOracle::room(Instant now) const { return std::max(amount_ - sum(now), Wide{0}); }

// As time passes what was charged stops counting, one by one.
Nanoseconds LogOracle::least_wait(std::uint64_t cost, Instant now) const {
  Wide counted = sum(now);
  for (const Past& past : past_) {
    if (!counts(past.at, now)) continue;
    counted -= past.cost;
    if (counted + Wide{cost} <= amount_) return window_ - (now - past.at);
  }
  return Decision::kNever;
}

void LogOracle::witness(Instant now) {
  if (past_.empty() || past_.back().at - now <= window_) return;
  const Wide counted = sum(now);
  past_ = {{.cost = counted, .at = now}};
}

void LogOracle::forget(Instant now) {
  std::erase_if(past_, [&](const Past& past) { return !counts(past.at, now); });
}

void LogOracle::charge(std::uint64_t cost, Instant now) {
  if (cost == 0) return;
  forget(now);
  past_.push_back({.cost = Wide{cost}, .at = past_.empty() ? now : std::max(now, past_.back().at)});
}

void LogOracle::take_from_the_oldest(Wide cost) {
  for (Past& past : past_) {
    const Wide taken = std::min(cost, past.cost);
    past.cost -= taken;
    cost -= taken;
  }
  std::erase_if(past_, [](const Past& past) { return past.cost == 0; });
}

void LogOracle::refund(const Ask& ask) {
  if (!counts(std::min(ask.charged_at, ask.now), ask.now) || ask.cost == 0 || sum(ask.now) == 0) return;
  forget(ask.now);
  take_from_the_oldest(ask.cost);
}

// Unit by unit: where there is no room for it, the oldest one goes.
void LogOracle::charge_refused(std::uint64_t cost, Instant now) {
  const Wide counted = std::min(Wide{cost}, amount_), before = room(now);
  charge(static_cast<std::uint64_t>(counted), now);
  take_from_the_oldest(std::max(counted - before, Wide{0}));
}

// What the answer does to the counter.
void LogOracle::take(const Ask& ask, bool admitted) {
  witness(ask.now);
  const auto clamped = static_cast<std::uint64_t>(std::min(Wide{ask.cost}, room(ask.now)));
  switch (ask.verb) {
    case Verb::decide:
      if (admitted) return charge(ask.cost, ask.now);
      if (options_.count_refused) charge_refused(ask.cost, ask.now);
      return;
    case Verb::look: return;
    case Verb::refund: return refund(ask);
    case Verb::debit: return charge(clamped, ask.now);
  }
}

Expectation LogOracle::expect(const Ask& ask) const {
  LogOracle after = *this;
  after.witness(ask.now);
  const std::uint64_t asked = std::max<std::uint64_t>(ask.cost, 1);
  const bool answers = ask.verb == Verb::decide || ask.verb == Verb::look;
  const bool refused = answers && Wide{asked} > after.room(ask.now);
  after.take(ask, !refused);
  Expectation expected;
  expected.remaining = static_cast<std::uint32_t>(after.room(ask.now));
  if (after.sum(ask.now) > 0) expected.reset_after = window_ - (ask.now - after.past_.back().at);
  if (!refused) return expected;
  const bool never = Wide{asked} > amount_;
  expected.outcome = never ? Outcome::never : Outcome::denied;
  expected.retry_after = never ? Decision::kNever : after.least_wait(asked, ask.now);
  return expected;
}

void LogOracle::happened(const Ask& ask, const Expectation& answer) {
  if (ask.verb != Verb::look) take(ask, answer.outcome == Outcome::allowed);
}

}  // namespace penstock::algorithm::testing
