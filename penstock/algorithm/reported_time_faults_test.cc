// Faults at window boundaries and of clocks that users of other rate limiters reported, as scenarios; the numbers are
// those of the project's list of bug reports.

#include <cstdint>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Instant at(double second) {
  return kZero + std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>{second});
}

TEST(ReportedFaults, Br017SlidingWindowOfOnePassesAndRemainingMindsTheFormerWindow) {
  Counter one{sliding_window(1, 10)};
  EXPECT_EQ(one.decide(1, at(0)).outcome, Outcome::allowed);
  EXPECT_EQ(one.decide(1, at(5)).outcome, Outcome::denied);
  EXPECT_EQ(one.decide(1, at(15)).outcome, Outcome::denied);
  EXPECT_EQ(one.decide(1, at(20.1)).outcome, Outcome::allowed);

  Counter hundred{sliding_window(100, 60)};
  EXPECT_EQ(hundred.admitted(50, at(30)), 50u);
  Decision last;
  for (int hit = 0; hit < 10; ++hit) last = hundred.decide(1, at(66));
  EXPECT_EQ(last.remaining, 45u);
  EXPECT_EQ(hundred.admitted(60, at(66)), 45u);
}

TEST(ReportedFaults, Br019FormerWindowCountsUntilItIsOutOfReach) {
  Counter counter{sliding_window(100, 180)};
  for (int hit = 0; hit < 100; ++hit) counter.decide(1, at(170 + hit * 0.1));
  EXPECT_EQ(counter.admitted(100, at(330)), 83u);
}

TEST(ReportedFaults, Br021StaleEntriesAreDroppedBeforeTheyAreCounted) {
  Counter counter{sliding_log(5, 10)};
  EXPECT_EQ(counter.admitted(5, at(0)), 5u);
  const Decision decision = counter.decide(1, at(10.05));
  EXPECT_EQ(decision.outcome, Outcome::allowed);
  EXPECT_EQ(decision.remaining, 4u);
}

TEST(ReportedFaults, Br023OnlyAFixedWindowLetsTwiceTheLimitThroughAtTheSeam) {
  struct Row {
    Limit limit;
    std::uint32_t after_the_seam;
  };
  for (const Row& row : {Row{window(5, 10), 5}, Row{sliding_log(5, 10), 0}, Row{sliding_window(5, 10), 0}}) {
    Counter counter{row.limit};
    EXPECT_EQ(counter.admitted(5, at(9.5)), 5u);
    EXPECT_EQ(counter.admitted(5, at(10.2)), row.after_the_seam) << to_string(row.limit.algorithm());
  }
}

TEST(ReportedFaults, Br025WaitIsUntilTheOldestEntryIsOver) {
  Counter counter{sliding_log(2, 60)};
  counter.decide(1, at(0));
  counter.decide(1, at(10));
  EXPECT_EQ(counter.decide(1, at(20)).retry_after, seconds{40});
  EXPECT_EQ(counter.decide(1, at(60.05)).outcome, Outcome::allowed);
  EXPECT_EQ(counter.decide(1, at(60.1)).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(1, at(69.99)).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(1, at(70)).outcome, Outcome::allowed);
}

TEST(ReportedFaults, Br027NothingPassesBeforeThePromisedWaitWhichFallsSteadily) {
  Counter counter{gcra(6, 60, 6)};
  EXPECT_EQ(counter.admitted(10, at(0)), 6u);
  for (int half = 0; half < 20; ++half) {
    const Decision refused = counter.decide(1, kZero + milliseconds{500} * half);
    EXPECT_EQ(refused.outcome, Outcome::denied);
    EXPECT_EQ(refused.retry_after, seconds{10} - milliseconds{500} * half);
  }
  EXPECT_EQ(counter.decide(1, at(10)).outcome, Outcome::allowed);
}

TEST(ReportedFaults, Br029WindowThatIsFullStaysFull) {
  for (const Limit& limit : {window(5, 60), window(5, 60, true), sliding_window(5, 60), sliding_log(5, 60)}) {
    Counter counter{limit};
    for (int hit = 0; hit < 5; ++hit) {
      EXPECT_EQ(counter.decide(1, at(hit * 0.02)).outcome, Outcome::allowed) << to_string(limit.algorithm());
    }
    EXPECT_EQ(counter.decide(1, at(0.11)).outcome, Outcome::denied) << to_string(limit.algorithm());
  }
}

TEST(ReportedFaults, Br031CallersASecondApartDoNotRefillTwice) {
  const auto admitted = [](const Limit& limit, int for_seconds, int step_ms) {
    Counter counter{limit};
    std::uint32_t passed = 0;
    for (int ms = 0; ms < for_seconds * 1000; ms += step_ms) {
      const Instant early = kZero + milliseconds{ms};
      passed += counter.admitted(1, early) + counter.admitted(1, early - seconds{1});
    }
    return passed;
  };
  EXPECT_LE(admitted(gcra(150, 1, 150), 5, 1), 900u);
  EXPECT_LE(admitted(window(10, 1), 10, 5), 110u);
  EXPECT_LE(admitted(sliding_window(10, 1), 10, 5), 110u);
  EXPECT_LE(admitted(sliding_log(10, 1), 10, 5), 110u);
}

TEST(ReportedFaults, Br033CountersRotateAlsoWhereThePeriodIsLongerThanASecond) {
  for (const Limit& limit :
       {window(10, 10), window(10, 10, true), sliding_window(10, 10), sliding_log(10, 10), gcra(10, 10, 10),
        shaper(10, 10, 10, seconds{1}), gcra(gcra_options(10, 10, 10), {10, 1, 10})}) {
    Counter counter{limit};
    EXPECT_EQ(counter.admitted(10, at(0)), 10u) << to_string(limit.algorithm());
    const Decision later = counter.decide(1, at(21));
    EXPECT_EQ(later.outcome, Outcome::allowed) << to_string(limit.algorithm());
    EXPECT_EQ(later.remaining, 9u) << to_string(limit.algorithm());
  }
}

TEST(ReportedFaults, Br035ClockThatRepeatsASecondAtASeamGivesNoMoreThanAWindow) {
  for (const Limit& limit : {window(5, 60), sliding_window(5, 60), sliding_log(5, 60), gcra(5, 60, 5)}) {
    Counter counter{limit};
    std::uint32_t passed = 0;
    for (int tick = 0; tick < 20 * 120; ++tick) {
      const Instant steady = kZero + milliseconds{50} * tick;
      const Instant now = tick < 20 * 60 ? steady : steady - seconds{1};
      const Decision decision = counter.decide(1, now);
      passed += decision.outcome == Outcome::allowed;
      EXPECT_GE(decision.reset_after, Nanoseconds{0});
      EXPECT_GE(decision.retry_after, Nanoseconds{0});
    }
    EXPECT_LE(passed, 15u) << to_string(limit.algorithm());
    EXPECT_GE(passed, 5u) << to_string(limit.algorithm());
  }
}

TEST(ReportedFaults, Br083WaitingExactlyTheRetryIsEnough) {
  Random random{83};
  for (const Limit& limit :
       {gcra(5, 10, 5), window(5, 10), window(5, 10, true), sliding_window(5, 10), sliding_log(5, 10)}) {
    Counter counter{limit};
    Instant now = kOddInstant;
    for (int round = 0; round < 50; ++round) {
      now += Nanoseconds{static_cast<std::int64_t>(random.below(25'000'000'000))};
      counter.admitted(5, now);
      const Decision refused = counter.look(1, now);
      if (refused.outcome == Outcome::allowed) continue;
      EXPECT_GT(refused.retry_after, Nanoseconds{0});
      EXPECT_LE(refused.retry_after, seconds{20});
      const auto whole = std::chrono::ceil<seconds>(refused.retry_after);
      EXPECT_GE(whole, seconds{1});
      now += refused.retry_after;
      EXPECT_EQ(counter.decide(1, now).outcome, Outcome::allowed) << round;
    }
  }
}

}  // namespace
}  // namespace penstock::algorithm::testing
