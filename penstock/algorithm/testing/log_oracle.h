#pragma once

#include <cstdint>
#include <vector>

#include "penstock/algorithm/testing/oracle.h"

namespace penstock::algorithm::testing {

// A sliding log as a list of everything that was charged, gone through for each question. A clock that steps back
// charges at the last charge's instant; where that is more than a window ahead, all that counts is taken as charged
// now. What did not count when something was charged or given back is gone for good, and so is what had to make place
// for refused cost.
class LogOracle final : public Oracle {
 public:
  explicit LogOracle(const LimitOptions& options)
      : amount_{options.amount}, window_{std::chrono::seconds{options.window_seconds}}, options_{options} {}

  [[nodiscard]] Expectation expect(const Ask& ask) const override;
  void happened(const Ask& ask, const Expectation& answer) override;

 private:
  struct Past {
    Wide cost;
    Instant at;
  };

  [[nodiscard]] bool counts(Instant at, Instant now) const { return Wide{(now - at).count()} < window_.count(); }
  [[nodiscard]] Wide sum(Instant now) const;
  [[nodiscard]] Wide room(Instant now) const;
  [[nodiscard]] Nanoseconds least_wait(std::uint64_t cost, Instant now) const;
  void witness(Instant now);
  void forget(Instant now);
  void charge(std::uint64_t cost, Instant now);
  void charge_refused(std::uint64_t cost, Instant now);
  void take_from_the_oldest(Wide cost);
  void refund(const Ask& ask);
  void take(const Ask& ask, bool admitted);

  Wide amount_;
  Nanoseconds window_;
  LimitOptions options_;
  std::vector<Past> past_;
};

}  // namespace penstock::algorithm::testing
