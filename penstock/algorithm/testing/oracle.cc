#include "penstock/algorithm/testing/oracle.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "penstock/algorithm/testing/limits.h"
#include "penstock/algorithm/testing/log_oracle.h"

namespace penstock::algorithm::testing {

Expectation said(const Decision& decision) {
  return {.outcome = decision.outcome,
          .remaining = decision.remaining,
          .retry_after = decision.retry_after,
          .reset_after = decision.reset_after,
          .count_before = decision.count_before};
}

Wide RateHistory::advanced(Wide level, Nanoseconds elapsed) const {
  return std::min(level + Wide{elapsed.count()} * amount_, capacity_);
}

Wide RateHistory::brought_back(Wide level) const { return level < -owed_at_most_ - second_ ? -owed_at_most_ : level; }

Wide RateHistory::after_refund(Wide level, std::uint64_t cost) const {
  return std::min(level + std::min(price(cost), capacity_), capacity_);
}

Wide RateHistory::after_debit(Wide level, std::uint64_t cost) const {
  return std::max(level - price(cost), std::min(level, Wide{0}));
}

Wide RateHistory::after(const Past& past, Wide level) const {
  level = brought_back(level);
  switch (past.event) {
    case Event::charge: return level - price(past.cost);
    case Event::refund: return after_refund(level, past.cost);
    case Event::debit: return after_debit(level, past.cost);
    case Event::witness: return level;
  }
  __builtin_unreachable();
}

void RateHistory::witness(Instant now) {
  const Wide seen = level(now);
  if (brought_back(seen) != seen) past_.push_back({Event::witness, 0, now});
}

Wide RateHistory::level(Instant now) const {
  Wide level = capacity_;
  Instant at = now;
  for (const Past& past : past_) {
    if (&past != past_.data()) level = advanced(level, past.at - at);
    level = after(past, level);
    at = past.at;
  }
  return advanced(level, now - at);
}

Nanoseconds RateHistory::time_to_gain(Wide credits, Instant now) const {
  if (credits <= 0) return Nanoseconds{0};
  const Wide most = (Instant::max() - now).count();
  return Nanoseconds{static_cast<std::int64_t>(std::min((credits + amount_ - 1) / amount_, most))};
}

BucketOracle::BucketOracle(const LimitOptions& options) : options_{options} {
  const Limit limit = Limit::create(options).value();
  rates_.emplace_back(PeakOptions{options.amount, options.window_seconds, options.burst}, limit.ticks(),
                      options.max_wait);
  if (options.peak) rates_.emplace_back(*options.peak, limit.peak_ticks(), options.max_wait);
}

Nanoseconds BucketOracle::wait(const RateHistory& rate, Wide level, const Ask& ask) const {
  return rate.time_to_gain(rate.price(std::max<std::uint64_t>(ask.cost, 1)) - level, ask.now);
}

Nanoseconds BucketOracle::least_wait(const std::vector<Wide>& levels, const Ask& ask) const {
  Nanoseconds least{0};
  for (std::size_t i = 0; i < rates_.size(); ++i) least = std::max(least, wait(rates_[i], levels[i], ask));
  return least;
}

Expectation BucketOracle::expect(const Ask& ask, int ticks) const {
  std::vector<Wide> levels;
  bool never = false;
  for (const RateHistory& rate : rates_) {
    levels.push_back(rate.brought_back(std::min(rate.level(ask.now) + ticks * rate.tick(), rate.capacity())));
    never |= rate.price(std::max<std::uint64_t>(ask.cost, 1)) > rate.capacity();
  }
  const Nanoseconds least = least_wait(levels, ask);
  const bool asks = ask.verb == Verb::decide || ask.verb == Verb::look;
  const bool admitted = !never && least <= (ask.accepts_wait ? options_.max_wait : Nanoseconds{0});
  Wide remaining = std::numeric_limits<std::uint32_t>::max();
  Expectation expected;
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    const RateHistory& rate = rates_[i];
    levels[i] = level_after(rate, levels[i], ask, admitted);
    remaining = std::min(remaining, rate.units(levels[i]));
    expected.reset_after = std::max(expected.reset_after, rate.time_to_gain(rate.capacity() - levels[i], ask.now));
  }
  expected.remaining = static_cast<std::uint32_t>(remaining);
  if (asks && admitted) expected.retry_after = least;
  if (asks && !admitted) {
    expected.outcome = never ? Outcome::never : Outcome::denied;
    expected.retry_after = never ? Decision::kNever : least_wait(levels, ask);
  }
  return expected;
}

Wide BucketOracle::level_after(const RateHistory& rate, Wide level, const Ask& ask, bool admitted) const {
  switch (ask.verb) {
    case Verb::look: return level;
    case Verb::refund: return rate.after_refund(level, ask.cost);
    case Verb::debit: return rate.after_debit(level, ask.cost);
    case Verb::decide: break;
  }
  if (admitted) return level - rate.price(ask.cost);
  return options_.count_refused ? rate.after_debit(level, ask.cost) : level;
}

void BucketOracle::happened(const Ask& ask, const Expectation& answer) {
  if (ask.verb == Verb::look) return;
  for (RateHistory& rate : rates_) {
    rate.witness(ask.now);
    if (ask.cost == 0) continue;
    if (ask.verb == Verb::refund && rate.level(ask.now) < rate.capacity()) rate.refund(ask.cost, ask.now);
    if (ask.verb == Verb::debit) rate.debit(ask.cost, ask.now);
    if (ask.verb != Verb::decide) continue;
    if (answer.outcome == Outcome::allowed) {
      rate.charge(ask.cost, ask.now);
    } else if (options_.count_refused) {
      rate.debit(ask.cost, ask.now);
    }
  }
}

namespace {

class SpreadOracle final : public Oracle {
 public:
  SpreadOracle(const LimitOptions& options, std::unique_ptr<Oracle> aligned)
      : limit_{Limit::create(options).value()}, aligned_{std::move(aligned)} {}

  [[nodiscard]] Expectation expect(const Ask& ask) const override { return aligned_->expect(in_own_time(limit_, ask)); }
  void happened(const Ask& ask, const Expectation& answer) override {
    aligned_->happened(in_own_time(limit_, ask), answer);
  }

 private:
  Limit limit_;
  std::unique_ptr<Oracle> aligned_;
};

}  // namespace

std::unique_ptr<Oracle> oracle_for(const LimitOptions& options) {
  if (options.spread_windows) {
    LimitOptions aligned = options;
    aligned.spread_windows = false;
    return std::make_unique<SpreadOracle>(options, oracle_for(aligned));
  }
  switch (options.algorithm) {
    case Algorithm::fixed_window: return std::make_unique<FixedWindowOracle>(options);
    case Algorithm::gcra:
    case Algorithm::token_bucket:
    case Algorithm::leaky_bucket: return std::make_unique<BucketOracle>(options);
    case Algorithm::sliding_window: return std::make_unique<SlidingWindowOracle>(options);
    case Algorithm::sliding_log: return std::make_unique<LogOracle>(options);
  }
  return nullptr;
}

}  // namespace penstock::algorithm::testing
