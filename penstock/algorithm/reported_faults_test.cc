// Faults of arithmetic that users of other rate limiters reported, as scenarios; the numbers are those of the project's
// list of bug reports.

#include <cstdint>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ReportedFaults, Br001LimitOfZeroBlocksOrIsRefusedAsARule) {
  for (const LimitOptions& options : {window_options(0, 1, false), window_options(0, 1, true), sliding_options(0, 1)}) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const Outcome unused = options.count_refused ? Outcome::allowed : Outcome::never;
    Counter counter{Limit::create(options).value()};
    EXPECT_EQ(counter.look(0, kOddInstant).outcome, unused);
    for (int hit = 0; hit < 10; ++hit) {
      const Decision decision = counter.decide(1, kOddInstant);
      EXPECT_EQ(decision.outcome, Outcome::never);
      EXPECT_EQ(decision.remaining, 0u);
      EXPECT_LE(decision.reset_after, seconds{1});
    }
    EXPECT_EQ(counter.look(0, kOddInstant).outcome, options.count_refused ? Outcome::denied : Outcome::never);
    EXPECT_EQ(counter.admitted(1000, kOddInstant), 0u);
  }
  for (const Algorithm algorithm :
       {Algorithm::gcra, Algorithm::token_bucket, Algorithm::leaky_bucket, Algorithm::sliding_log}) {
    EXPECT_FALSE(Limit::create({.algorithm = algorithm, .amount = 0, .burst = 1}).has_value());
    if (algorithm != Algorithm::sliding_log) {
      EXPECT_FALSE(Limit::create({.algorithm = algorithm, .amount = 5, .burst = 0}).has_value());
    }
  }
}

TEST(ReportedFaults, Br003VeryFastRatesAreKept) {
  Counter two_thousand{gcra(2000, 1, 20)};
  EXPECT_EQ(two_thousand.admitted(100, kOddInstant), 20u);

  Counter eight_thousand{gcra(8000, 1, 1)};
  std::uint32_t admitted = 0;
  for (Nanoseconds at{0}; at < seconds{2}; at += std::chrono::microseconds{25}) {
    admitted += eight_thousand.admitted(1, kOddInstant + at);
  }
  EXPECT_EQ(admitted, 16'000u);

  Counter six_thousand{gcra(6000, 1, 6000)};
  admitted = 0;
  for (std::uint32_t hit = 0; hit < 7000; ++hit) {
    const Decision decision = six_thousand.decide(1, kOddInstant + hit * std::chrono::microseconds{10});
    EXPECT_LE(decision.remaining, 6000u);
    admitted += decision.outcome == Outcome::allowed;
  }
  EXPECT_EQ(admitted, 6000u + 419u) << "rate x 69.99 ms";
}

TEST(ReportedFaults, Br005LimitLoweredBelowWhatIsUsed) {
  for (const bool count_refused : {false, true}) {
    State state = Counter{window(10, 3600, count_refused)}.state;
    for (int hit = 0; hit < 8; ++hit) state = decide(window(10, 3600, count_refused), state, kOddInstant, 1).state;
    const Step lowered = decide(window(5, 3600, count_refused), state, kOddInstant, 1);
    EXPECT_EQ(lowered.decision.outcome, Outcome::denied);
    EXPECT_EQ(lowered.decision.remaining, 0u);
    const Step raised = decide(window(20, 3600, count_refused), lowered.state, kOddInstant, 1);
    EXPECT_EQ(raised.decision.outcome, Outcome::allowed);
    EXPECT_EQ(raised.decision.remaining, count_refused ? 10u : 11u);
  }
}

TEST(ReportedFaults, Br009CostOfTheWholeCapacityIsPossibleAndAboveItNever) {
  Counter empty{gcra(3, 2, 3)};
  EXPECT_EQ(empty.decide(3, kOddInstant).outcome, Outcome::allowed);
  const Decision refused = empty.decide(3, kOddInstant);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, seconds{2});
  EXPECT_EQ(empty.decide(3, kOddInstant + seconds{2}).outcome, Outcome::allowed);

  Counter full{gcra(3, 2, 3)};
  EXPECT_EQ(full.decide(4, kOddInstant).outcome, Outcome::never);
  EXPECT_EQ(full.decide(3, kOddInstant).outcome, Outcome::allowed);
}

TEST(ReportedFaults, Br009HoldsForEveryAlgorithm) {
  for (const Limit& limit : {window(3, 2), sliding_window(3, 2), sliding_log(3, 2), shaper(3, 2, 3, seconds{1})}) {
    Counter counter{limit};
    EXPECT_EQ(counter.decide(4, kZero).outcome, Outcome::never) << to_string(limit.algorithm());
    EXPECT_EQ(counter.decide(3, kZero).outcome, Outcome::allowed) << to_string(limit.algorithm());
    const Decision refused = counter.decide(3, kZero);
    EXPECT_EQ(refused.outcome, Outcome::denied);
    EXPECT_EQ(counter.decide(3, kZero + refused.retry_after).outcome, Outcome::allowed);
  }
}

TEST(ReportedFaults, Br011RemainingStaysAtTheLimitAfterAPause) {
  for (const Limit& limit : {gcra(1, 1, 10), window(10, 1), sliding_window(10, 1), sliding_log(10, 1),
                             gcra(gcra_options(1, 1, 10), {1, 2, 10})}) {
    Counter counter{limit};
    counter.decide(1, kOddInstant);
    EXPECT_EQ(counter.look(0, kOddInstant + seconds{60}).remaining, 10u);
    EXPECT_EQ(counter.decide(1, kOddInstant + seconds{60}).remaining, 9u);
  }
}

TEST(ReportedFaults, Br013BurstSmallerThanTheRateLimitsNonetheless) {
  Counter three{gcra(3, 1, 1)};
  EXPECT_EQ(three.admitted(10, kOddInstant), 1u);
  Counter thousand{gcra(1000, 1, 1)};
  EXPECT_EQ(thousand.admitted(10, kOddInstant), 1u);
  EXPECT_EQ(thousand.admitted(10, kOddInstant + milliseconds{1}), 1u);
}

TEST(ReportedFaults, Br015SteadyTrafficBelowTheRateIsNeverRefused) {
  Counter counter{gcra(600, 1, 1000)};
  std::uint32_t admitted = 0;
  const auto steady = [&](Instant from, std::int64_t rate) {
    admitted = 0;
    for (std::int64_t hit = 0; hit < rate * 30; ++hit) {
      admitted += counter.admitted(1, from + Nanoseconds{hit * 1'000'000'000 / rate});
    }
  };
  steady(kOddInstant, 590);
  EXPECT_EQ(admitted, 590u * 30);
  steady(kOddInstant + seconds{60}, 700);
  EXPECT_NEAR(admitted, 19'000, 1) << "the burst and thirty seconds of the rate";
}

}  // namespace
}  // namespace penstock::algorithm::testing
