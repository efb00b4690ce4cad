#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/algorithm/algorithm.h"

// Slow, obvious references for the algorithms: they keep everything that ever happened to a counter, play it back for
// each question, and calculate in whole numbers without rounding. For tests alone.

namespace penstock::algorithm::testing {

__extension__ using Wide = __int128;

// What a decision must say, apart from `charged` and `cause`.
struct Expectation {
  Outcome outcome = Outcome::allowed;
  std::uint32_t remaining = 0;
  Nanoseconds retry_after{0};
  Nanoseconds reset_after{0};
  std::uint64_t count_before = 0;

  friend bool operator==(const Expectation&, const Expectation&) = default;
};

[[nodiscard]] Expectation said(const Decision& decision);

class Oracle {
 public:
  virtual ~Oracle() = default;

  // What must be said to `ask`.
  [[nodiscard]] virtual Expectation expect(const Ask& ask) const = 0;

  // `ask` was answered; its cost took effect if it was admitted or if refused cost counts.
  virtual void happened(const Ask& ask, const Expectation& answer) = 0;
};

// A token bucket that refills with `amount` tokens in `window_seconds`, in the credit form: a token is
// window_seconds x 10^9 credits, every nanosecond brings `amount` of them. Before the last event time runs backwards:
// the level falls. Who waits owes: the level is below zero until the departure.
class RateHistory {
 public:
  RateHistory(const PeakOptions& rate, const Ticks& ticks, Nanoseconds max_wait)
      : second_{Wide{rate.amount} * 1'000'000'000},
        token_{Wide{rate.window_seconds} * 1'000'000'000},
        capacity_{token_ * rate.burst},
        tick_{second_ / ticks.per_second + 1},
        amount_{rate.amount},
        owed_at_most_{Wide{rate.amount} * max_wait.count()} {}

  void charge(std::uint64_t cost, Instant now) { past_.push_back({Event::charge, cost, now}); }
  void refund(std::uint64_t cost, Instant now) { past_.push_back({Event::refund, cost, now}); }
  void debit(std::uint64_t cost, Instant now) { past_.push_back({Event::debit, cost, now}); }

  // A counter that was seen at `now` has forgotten what it owed beyond a second's slack.
  void witness(Instant now);

  [[nodiscard]] Wide level(Instant now) const;  // credits
  [[nodiscard]] Wide price(std::uint64_t cost) const { return Wide{cost} * token_; }
  [[nodiscard]] Wide capacity() const { return capacity_; }
  [[nodiscard]] Wide tick() const { return tick_; }  // what the limit's tick brings, rounded up
  [[nodiscard]] Wide after_refund(Wide level, std::uint64_t cost) const;
  [[nodiscard]] Wide after_debit(Wide level, std::uint64_t cost) const;
  [[nodiscard]] Wide brought_back(Wide level) const;
  [[nodiscard]] Wide units(Wide level) const { return level < 0 ? 0 : level / token_; }
  [[nodiscard]] Wide advanced(Wide level, Nanoseconds elapsed) const;
  [[nodiscard]] Nanoseconds time_to_gain(Wide credits, Instant now) const;

 private:
  enum class Event : std::uint8_t { charge, refund, debit, witness };
  struct Past {
    Event event;
    std::uint64_t cost;
    Instant at;
  };

  [[nodiscard]] Wide after(const Past& past, Wide level) const;

  Wide second_, token_, capacity_, tick_;
  Wide amount_;
  Wide owed_at_most_;
  std::vector<Past> past_;
};

// One or two rates that must hold together.
class BucketOracle final : public Oracle {
 public:
  explicit BucketOracle(const LimitOptions& options);

  [[nodiscard]] Expectation expect(const Ask& ask) const override { return expect(ask, 0); }
  // The same with each level higher by what so many ticks bring, for limits whose ticks are not whole nanoseconds.
  [[nodiscard]] Expectation expect(const Ask& ask, int ticks) const;
  void happened(const Ask& ask, const Expectation& answer) override;

 private:
  [[nodiscard]] Nanoseconds wait(const RateHistory& rate, Wide level, const Ask& ask) const;
  [[nodiscard]] Wide level_after(const RateHistory& rate, Wide level, const Ask& ask, bool admitted) const;
  [[nodiscard]] Nanoseconds least_wait(const std::vector<Wide>& levels, const Ask& ask) const;

  LimitOptions options_;
  std::vector<RateHistory> rates_;
};

// Aligned windows, counted by going through every charge there was. A clock that stepped back into the window before
// the last one stays in the last; further back, it takes along what counted. What lies further back than counts is gone
// for good once something was charged or given back.
class WindowHistory {
 public:
  explicit WindowHistory(std::int64_t window_seconds, std::int64_t windows_that_count)
      : window_seconds_{window_seconds}, windows_that_count_{windows_that_count} {}

  // Moves what lies beyond the next window to `now`, as the counter does that was seen there.
  void witness(Instant now);

  void charge(std::uint64_t cost, Instant now);
  void refund(std::uint64_t cost, Instant now, Instant charged_at);

  [[nodiscard]] std::int64_t current(Instant now) const;
  [[nodiscard]] Wide count(std::int64_t window) const;
  [[nodiscard]] Instant end_of(std::int64_t window) const {
    return instant_from_unix_seconds((window + 1) * window_seconds_);
  }

 private:
  struct Past {
    std::int64_t window;
    Wide cost;
  };

  [[nodiscard]] std::int64_t window_of(Instant instant) const;
  [[nodiscard]] Wide counted() const;
  void move_on_to(std::int64_t window);

  std::int64_t window_seconds_, windows_that_count_;
  std::int64_t last_ = 0;  // charged
  std::vector<Past> past_;
};

class FixedWindowOracle final : public Oracle {
 public:
  explicit FixedWindowOracle(const LimitOptions& options) : options_{options}, history_{options.window_seconds, 1} {}

  [[nodiscard]] Expectation expect(const Ask& ask) const override;
  void happened(const Ask& ask, const Expectation& answer) override;

 private:
  LimitOptions options_;
  WindowHistory history_;
};

// Finds its waits by bisection.
class SlidingWindowOracle final : public Oracle {
 public:
  explicit SlidingWindowOracle(const LimitOptions& options) : options_{options}, history_{options.window_seconds, 2} {}

  [[nodiscard]] Expectation expect(const Ask& ask) const override;
  void happened(const Ask& ask, const Expectation& answer) override;

 private:
  LimitOptions options_;
  WindowHistory history_;
};

// The oracle for the algorithm of `options`; where windows are spread, of the counter of kCounterHash.
[[nodiscard]] std::unique_ptr<Oracle> oracle_for(const LimitOptions& options);

}  // namespace penstock::algorithm::testing
