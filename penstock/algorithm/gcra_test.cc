#include <cstdint>

#include <gtest/gtest.h>

#include "penstock/algorithm/algorithm.h"
#include "penstock/algorithm/testing/limits.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Row {
  int at_ms;
  std::uint64_t cost;
  Outcome outcome;
  std::uint32_t remaining;
  int reset_ms;
  int retry_ms;  // -1: never
};

// throttled (Go) and redis-cell test this table; what they answer for a cost that never fits (remaining 5 and reset 0
// whatever the state) is put right.
TEST(Gcra, AnswersTheTableOfThrottledAndRedisCell) {
  Counter counter{gcra(1, 1, 5)};
  const Row rows[] = {
      {0, 6, Outcome::never, 5, 0, -1},          {0, 1, Outcome::allowed, 4, 1000, 0},
      {0, 1, Outcome::allowed, 3, 2000, 0},      {0, 1, Outcome::allowed, 2, 3000, 0},
      {0, 1, Outcome::allowed, 1, 4000, 0},      {0, 1, Outcome::allowed, 0, 5000, 0},
      {0, 1, Outcome::denied, 0, 5000, 1000},    {3000, 1, Outcome::allowed, 2, 3000, 0},
      {3100, 1, Outcome::allowed, 1, 3900, 0},   {4000, 1, Outcome::allowed, 1, 4000, 0},
      {8000, 1, Outcome::allowed, 4, 1000, 0},   {9500, 1, Outcome::allowed, 4, 1000, 0},
      {9500, 0, Outcome::allowed, 4, 1000, 0},   {9500, 2, Outcome::allowed, 2, 3000, 0},
      {9500, 5, Outcome::denied, 2, 3000, 3000}, {9500, 6, Outcome::never, 2, 3000, -1},
      {15'000, 6, Outcome::never, 5, 0, -1},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(::testing::Message() << "at " << row.at_ms << " ms, cost " << row.cost);
    const Decision decision = counter.decide(row.cost, kZero + milliseconds{row.at_ms});
    EXPECT_EQ(decision.outcome, row.outcome);
    EXPECT_EQ(decision.remaining, row.remaining);
    EXPECT_EQ(decision.reset_after, milliseconds{row.reset_ms});
    EXPECT_EQ(decision.retry_after, row.retry_ms < 0 ? Decision::kNever : Nanoseconds{milliseconds{row.retry_ms}});
  }
}

// redis-cell: CL.THROTTLE k 15 30 60 (burst 16 in our count) and k 0 1 2.
TEST(Gcra, AnswersTheRepliesOfRedisCell) {
  Counter sixteen{gcra(30, 60, 16)};
  const Decision first = sixteen.decide(1, kZero);
  EXPECT_EQ(first.remaining, 15u);
  EXPECT_EQ(first.reset_after, seconds{2});
  Counter one{gcra(1, 2, 1)};
  EXPECT_EQ(one.decide(1, kZero).reset_after, seconds{2});
  const Decision refused = one.decide(1, kZero);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, seconds{2});
  EXPECT_EQ(refused.reset_after, seconds{2});
}

// redis_rate: ten a second, burst ten; its finite wait for a cost of 1000 is never.
TEST(Gcra, AnswersTheTableOfRedisRate) {
  Counter counter{gcra(10, 1, 10)};
  const Decision first = counter.decide(1, kZero);
  EXPECT_EQ(first.remaining, 9u);
  EXPECT_EQ(first.reset_after, milliseconds{100});
  EXPECT_EQ(counter.decide(2, kZero).remaining, 7u);
  EXPECT_EQ(counter.decide(7, kZero).remaining, 0u);
  const Decision never = counter.decide(1000, kZero);
  EXPECT_EQ(never.outcome, Outcome::never);
  EXPECT_EQ(never.reset_after, seconds{1});
}

TEST(Gcra, SevenASecondComesBackEverySeventhOfASecondWithoutDrift) {
  Counter counter{gcra(7, 1, 7)};
  EXPECT_EQ(counter.admitted(8, kZero), 7u);
  const Decision refused = counter.look(1, kZero);
  EXPECT_EQ(refused.retry_after, Nanoseconds{142'857'143});
  EXPECT_EQ(refused.reset_after, seconds{1});
  for (const std::int64_t admit_at :
       {142'857'143, 285'714'286, 428'571'429, 571'428'572, 714'285'715, 857'142'858, 1'000'000'000, 1'142'857'143}) {
    EXPECT_EQ(counter.decide(1, kZero + Nanoseconds{admit_at - 1}).outcome, Outcome::denied) << admit_at;
    EXPECT_EQ(counter.decide(1, kZero + Nanoseconds{admit_at}).outcome, Outcome::allowed) << admit_at;
  }
}

struct BackToBack {
  std::uint32_t interval;
  std::uint32_t tolerance;
  std::int64_t spacing;
  int admitted;
};

// N = floor(1 + tau / (T - d)) cells pass back to back at spacing d < T; I.371. In units of a second: a cell costs T
// units, of which one comes back a second, and the burst is T + tau.
TEST(Gcra, AdmitsAsManyBackToBackAsI371Says) {
  for (const BackToBack& row : {BackToBack{10, 40, 0, 5}, {10, 40, 2, 6}, {10, 45, 3, 7}}) {
    Counter counter{gcra(1, 1, row.interval + row.tolerance)};
    int admitted = 0;
    while (counter.decide(row.interval, kZero + seconds{admitted * row.spacing}).outcome == Outcome::allowed) {
      ++admitted;
    }
    EXPECT_EQ(admitted, row.admitted) << "spacing " << row.spacing;
  }
}

TEST(Gcra, TokenBucketAndLeakyBucketAreNamesOfTheSame) {
  LimitOptions options = gcra_options(7, 60, 5);
  Counter gcra_counter{Limit::create(options).value()};
  options.algorithm = Algorithm::token_bucket;
  Counter token_bucket{Limit::create(options).value()};
  options.algorithm = Algorithm::leaky_bucket;
  Counter leaky_bucket{Limit::create(options).value()};
  Random random{1};
  Instant now = kOddInstant;
  for (int step = 0; step < 500; ++step) {
    now += Nanoseconds{static_cast<std::int64_t>(random.below(12'000'000'000))};
    const std::uint64_t cost = random.below(4);
    const Decision decision = gcra_counter.decide(cost, now);
    ASSERT_EQ(token_bucket.decide(cost, now), decision) << step;
    ASSERT_EQ(leaky_bucket.decide(cost, now), decision) << step;
  }
}

TEST(Gcra, RefusedCostEmptiesTheBucketAndNoMoreWhereItCounts) {
  LimitOptions options = gcra_options(1, 1, 5);
  options.count_refused = true;
  Counter counter{Limit::create(options).value()};
  counter.decide(3, kZero);
  const Decision refused = counter.decide(3, kZero);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_TRUE(refused.charged);
  EXPECT_EQ(refused.remaining, 0u);
  EXPECT_EQ(refused.retry_after, seconds{3});
  for (int hit = 0; hit < 100; ++hit) EXPECT_EQ(counter.decide(1, kZero).retry_after, seconds{1});
  for (int half = 1; half < 20; ++half) {
    EXPECT_EQ(counter.decide(1, kZero + milliseconds{500} * half).outcome, Outcome::denied) << "who keeps asking";
  }
  EXPECT_EQ(counter.decide(6, kZero + seconds{60}).outcome, Outcome::never);
  EXPECT_EQ(counter.look(1, kZero + seconds{60}).remaining, 0u);
}

TEST(Gcra, RefundClampsAtAFreshCounter) {
  Counter counter{gcra(1, 1, 5)};
  counter.decide(3, kOddInstant);
  EXPECT_EQ(counter.refund(1, kOddInstant, kOddInstant).remaining, 3u);
  EXPECT_EQ(counter.refund(UINT64_MAX, kOddInstant, kOddInstant).remaining, 5u);
  EXPECT_EQ(counter.admitted(100, kOddInstant), 5u);
}

TEST(Gcra, DebitClampsAtAnEmptyCounter) {
  Counter counter{gcra(1, 1, 5)};
  EXPECT_EQ(counter.debit(2, kOddInstant).remaining, 3u);
  EXPECT_EQ(counter.debit(UINT64_MAX, kOddInstant).remaining, 0u);
  EXPECT_EQ(counter.look(1, kOddInstant).retry_after, seconds{1});
  EXPECT_EQ(counter.look(1, kOddInstant).reset_after, seconds{5});
}

TEST(Gcra, ClockThatStepsBackGivesNothingAndStallsByTheStep) {
  Counter counter{gcra(1, 1, 1)};
  EXPECT_EQ(counter.decide(1, kOddInstant).outcome, Outcome::allowed);
  const Decision refused = counter.decide(1, kOddInstant - milliseconds{500});
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, milliseconds{1500});
}

TEST(Gcra, ClocksOfTwoLoopsThatDifferForgetNoDebt) {
  Counter counter{gcra(1'000'000, 1, 10)};
  std::uint32_t admitted = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    admitted += counter.admitted(20, kOddInstant);
    admitted += counter.admitted(20, kOddInstant - milliseconds{5});
  }
  EXPECT_EQ(admitted, 10u);
}

TEST(Gcra, ClockThatRanAwayAndCameBackStallsNoLongerThanARefill) {
  Counter counter{gcra(1, 1, 5)};
  EXPECT_EQ(counter.admitted(6, kOddInstant + std::chrono::hours{24}), 5u);
  const Decision refused = counter.decide(1, kOddInstant);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, seconds{1});
  EXPECT_EQ(counter.decide(1, kOddInstant + refused.retry_after).outcome, Outcome::allowed);
}

TEST(Gcra, RebuiltStateIsFreshWhenItWouldHaveBeenRoundedUp) {
  Counter before{gcra(6, 60, 6)};
  before.decide(3, kOddInstant);
  const Instant fresh = fresh_at(before.limit, before.state);
  EXPECT_EQ(fresh, kOddInstant + seconds{30});
  for (const Limit& limit : {gcra(7, 60, 7), gcra(1, 31'536'000, kMost), gcra(997, 1, 100'000)}) {
    const State rebuilt = rebuild(limit, fresh, kOddInstant);
    const Nanoseconds late = fresh_at(limit, rebuilt) - fresh;
    EXPECT_GE(late, Nanoseconds{0}) << limit.amount();
    EXPECT_LE(late, Nanoseconds{1'000'000'000 / limit.ticks().per_second + 1}) << limit.amount();
  }
  EXPECT_EQ(rebuild(gcra(7, 60, 7), kOddInstant, kOddInstant), State{});
}

TEST(Gcra, RebuiltStateOwesNoMoreThanAFullBurst) {
  const Limit limit = gcra(1, 1, 5);
  Counter counter{limit, rebuild(limit, kOddInstant + std::chrono::hours{9}, kOddInstant)};
  EXPECT_EQ(counter.look(1, kOddInstant).retry_after, seconds{1});
}

TEST(Gcra, ChangedRateKeepsTheInstantAtWhichTheCounterIsFresh) {
  const auto left = [](std::uint32_t used, std::uint32_t new_amount, std::uint32_t new_burst) {
    const Limit changed = gcra(new_amount, 3'600, new_burst);
    Counter counter{gcra(100, 3'600, 100)};
    counter.decide(used, kZero);
    return Counter{changed, rebuild(changed, counter.fresh_at(), kZero)}.look(0, kZero).remaining;
  };
  EXPECT_EQ(left(100, 1, 100), 99u) << "an hour is one of a hundred";
  EXPECT_EQ(left(100, 1, 1), 0u) << "with the burst lowered too";
  EXPECT_EQ(left(50, 200, 100), 0u) << "half an hour is all of a hundred";
  EXPECT_EQ(left(50, 200, 200), 100u);
}

TEST(Gcra, SaysHowMuchIsUsed) {
  Counter counter{gcra(1, 1, 5)};
  EXPECT_EQ(used_share(counter.limit, counter.state, kOddInstant), 0);
  counter.decide(1, kOddInstant);
  EXPECT_NEAR(used_share(counter.limit, counter.state, kOddInstant), 51, 1);
  counter.decide(4, kOddInstant);
  EXPECT_EQ(used_share(counter.limit, counter.state, kOddInstant), 255);
  EXPECT_EQ(used_share(counter.limit, counter.state, kOddInstant + seconds{5}), 0);
  Counter large{gcra(1, 1, kMost)};
  large.decide(1, kOddInstant);
  EXPECT_EQ(used_share(large.limit, large.state, kOddInstant), 1) << "0 is fresh alone";
}

}  // namespace
}  // namespace penstock::algorithm::testing
