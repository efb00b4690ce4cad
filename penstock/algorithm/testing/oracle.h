#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penstock/algorithm/decision.h"
#include "penstock/algorithm/limit.h"
#include "penstock/base/instant.h"

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

// A token bucket of `burst` tokens that refills with `amount` tokens in `window_seconds`, in the credit form: a token
// is window_seconds x 10^9 credits, every nanosecond brings `amount` of them. Before the last charge time runs
// backwards: the level falls.
class BucketOracle {
 public:
  explicit BucketOracle(const LimitOptions& options) : options_{options} {}

  // What `decide` with that cost must say at `now`; `lenience` credits are added to the level, for limits whose ticks
  // are not whole nanoseconds.
  [[nodiscard]] Expectation expect(std::uint64_t cost, Instant now, Wide lenience = 0) const;

  void charge(std::uint64_t cost, Instant now) { past_.push_back({Event::charge, cost, now}); }
  void refund(std::uint64_t cost, Instant now) { past_.push_back({Event::refund, cost, now}); }
  void debit(std::uint64_t cost, Instant now) { past_.push_back({Event::debit, cost, now}); }

  // A decision was taken; matters where the clock had run away by more than a second and came back.
  void witness(Instant now);

  [[nodiscard]] Wide level(Instant now) const;  // credits, below zero where the clock stepped back
  [[nodiscard]] Wide token() const { return Wide{options_.window_seconds} * 1'000'000'000; }

 private:
  enum class Event : std::uint8_t { charge, refund, debit, witness };
  struct Past {
    Event event;
    std::uint64_t cost;
    Instant at;
  };

  [[nodiscard]] Wide capacity() const { return token() * options_.burst; }
  [[nodiscard]] Wide advanced(Wide level, Nanoseconds elapsed) const;
  [[nodiscard]] Wide after(const Past& past, Wide level) const;

  LimitOptions options_;
  std::vector<Past> past_;
};

// Aligned windows, counted by going through every charge there was. A clock that stepped back into the window before
// the last one stays in the last; further back, it takes the last one's charges along. A window is over for good once a
// later one was charged.
class WindowOracle {
 public:
  explicit WindowOracle(const LimitOptions& options) : options_{options} {}

  [[nodiscard]] Expectation expect(std::uint64_t cost, Instant now) const;

  void charge(std::uint64_t cost, Instant now);
  void refund(std::uint64_t cost, Instant now, Instant charged_at);
  void witness(Instant now);

 private:
  struct Past {
    std::int64_t window;
    Wide cost;
  };

  [[nodiscard]] std::int64_t window_of(Instant instant) const;
  [[nodiscard]] std::int64_t current(Instant now) const;
  [[nodiscard]] Wide count(std::int64_t window) const;

  LimitOptions options_;
  std::vector<Past> past_;
};

}  // namespace penstock::algorithm::testing
