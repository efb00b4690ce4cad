#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A hundred a minute, but at most ten a second.
Limit hundred_a_minute() { return gcra(gcra_options(100, 60, 100), {.amount = 10, .window_seconds = 1, .burst = 10}); }

struct MaximumBurst {
  std::uint32_t peak_interval;
  std::uint32_t interval;
  std::uint32_t cells;
  std::uint32_t tolerance;  // BT = (MBS - 1)(Ts - Tp)
};

// ITU-T I.371, variable bit rate: who sends at exactly the peak rate from idle gets exactly MBS cells through. A burst
// of b has the tolerance (b-1)Ts, which is no multiple of Ts in the tables, so a cell costs Ts units of one second's
// worth of tolerance each: the sustained rate is one unit a second, and its burst BT + Ts units.
TEST(Peak, AdmitsExactlyTheMaximumBurstSizeAtPeakRate) {
  for (const MaximumBurst& row : {MaximumBurst{1, 4, 5, 12}, {2, 10, 7, 48}, {3, 7, 20, 76}}) {
    SCOPED_TRACE(::testing::Message() << "Tp " << row.peak_interval << ", Ts " << row.interval);
    ASSERT_EQ(row.tolerance, (row.cells - 1) * (row.interval - row.peak_interval));
    Counter counter{gcra(gcra_options(1, 1, row.tolerance + row.interval),
                         {.amount = row.interval, .window_seconds = row.peak_interval, .burst = row.interval})};
    std::uint32_t admitted = 0;
    while (counter.decide(row.interval, kZero + seconds{admitted * row.peak_interval}).outcome == Outcome::allowed) {
      ++admitted;
    }
    EXPECT_EQ(admitted, row.cells);
  }
}

TEST(Peak, RefusesACellAheadOfThePeakRate) {
  Counter counter{gcra(gcra_options(1, 4, 4), {.amount = 1, .window_seconds = 1, .burst = 1})};
  EXPECT_EQ(counter.decide(1, kZero).outcome, Outcome::allowed);
  const Decision refused = counter.decide(1, kZero + milliseconds{400});
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, milliseconds{600});
  EXPECT_EQ(counter.decide(1, kZero + seconds{1}).outcome, Outcome::allowed);
}

TEST(Peak, HoldsBothRates) {
  Counter counter{hundred_a_minute()};
  std::vector<std::uint32_t> by_second;
  for (int second = 0; second < 30; ++second) by_second.push_back(counter.admitted(50, kZero + seconds{second}));
  for (int second = 0; second < 11; ++second) EXPECT_EQ(by_second[static_cast<std::size_t>(second)], 10u) << second;
  EXPECT_LT(by_second[12], 10u) << "100 and 1.67 a second are gone";
  EXPECT_LE(by_second[29], 2u);
}

TEST(Peak, ChargesBothOrNeither) {
  Counter counter{gcra(gcra_options(1, 60, 100), {.amount = 1, .window_seconds = 1, .burst = 5})};
  EXPECT_EQ(counter.admitted(50, kZero), 5u) << "45 refused by the peak are not charged to the rate";
  counter.debit(90, kZero + seconds{5});
  EXPECT_EQ(counter.admitted(50, kZero + seconds{10}), 5u);
  const State before = counter.state;
  EXPECT_EQ(counter.decide(1, kZero + seconds{20}).outcome, Outcome::denied);
  EXPECT_EQ(counter.state, before) << "what the rate refuses is not charged to the peak";
}

TEST(Peak, RemainingIsTheLeastAndTheWaitsAreTheGreatest) {
  Counter counter{hundred_a_minute()};
  const Decision first = counter.decide(4, kZero);
  EXPECT_EQ(first.remaining, 6u);
  EXPECT_EQ(first.reset_after, milliseconds{2400}) << "four at 100 a minute";
  const Decision refused = counter.decide(7, kZero);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, milliseconds{100});
  EXPECT_EQ(counter.decide(11, kZero).outcome, Outcome::never) << "above the lesser burst";
  EXPECT_EQ(counter.limit.capacity(), 10u);
  counter.debit(94, kZero + seconds{60});
  const Decision sustained = counter.decide(8, kZero + seconds{61});
  EXPECT_EQ(sustained.outcome, Outcome::denied);
  EXPECT_EQ(sustained.remaining, 7u);
}

TEST(Peak, RefundGivesBackToBoth) {
  Counter counter{hundred_a_minute()};
  counter.decide(10, kZero);
  EXPECT_EQ(counter.decide(1, kZero).outcome, Outcome::denied);
  EXPECT_EQ(counter.refund(10, kZero, kZero).remaining, 10u);
  EXPECT_EQ(counter.admitted(20, kZero), 10u);
  EXPECT_EQ(counter.refund(UINT64_MAX, kZero, kZero).reset_after, Nanoseconds{0});
}

TEST(Peak, IsFreshAndRebuiltWithTheSlowerOfBoth) {
  Counter counter{hundred_a_minute()};
  counter.decide(10, kOddInstant);
  const Instant fresh = fresh_at(counter.limit, counter.state);
  EXPECT_EQ(fresh, kOddInstant + seconds{6});
  const Counter rebuilt{counter.limit, rebuild(counter.limit, fresh, kOddInstant)};
  EXPECT_EQ(rebuilt.look(1, kOddInstant).remaining, 0u);
  EXPECT_EQ(rebuilt.look(1, kOddInstant).retry_after, milliseconds{100}) << "no later than a full burst of each";
  EXPECT_EQ(fresh_at(rebuilt.limit, rebuilt.state), fresh);
}

}  // namespace
}  // namespace penstock::algorithm::testing
