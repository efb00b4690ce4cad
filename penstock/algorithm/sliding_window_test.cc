#include <cstdint>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Nanoseconds kTick{1};

// Cloudflare's example: 42 in the former minute, 18 in the current one, at 15 seconds 49.5. The rule is strict: what
// would lie above the limit is refused.
TEST(SlidingWindow, WeighsTheFormerWindowAsPublished) {
  Counter counter{sliding_window(50, 60)};
  counter.decide(42, kZero + seconds{30});
  const Instant now = kZero + seconds{75};
  EXPECT_EQ(counter.decide(18, now).outcome, Outcome::allowed);
  const Decision refused = counter.decide(1, now);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.count_before, 50u) << "49.5, rounded up";
  EXPECT_EQ(refused.remaining, 0u);
  EXPECT_EQ(std::chrono::ceil<milliseconds>(refused.retry_after), milliseconds{715});
  EXPECT_EQ(refused.retry_after, Nanoseconds{714'285'715});
  EXPECT_EQ(refused.reset_after, seconds{105}) << "what is current now counts for another window";
  EXPECT_EQ(counter.decide(1, now + refused.retry_after - kTick).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(1, now + refused.retry_after).outcome, Outcome::allowed);
}

// A published test admits 19 there by comparing the estimate before the cost; ours admits 18, then one every
// 60/42 seconds.
TEST(SlidingWindow, AdmitsStrictlyWhereALenientRuleAdmitsOneMore) {
  Counter counter{sliding_window(50, 60)};
  counter.decide(42, kZero);
  EXPECT_EQ(counter.admitted(30, kZero + seconds{75}), 18u);
  EXPECT_EQ(counter.admitted(30, kZero + seconds{78}), 2u);
}

TEST(SlidingWindow, SaysTheFiveNumbers) {
  Counter counter{sliding_window(10, 60)};
  const Decision fresh = counter.look(1, kZero);
  EXPECT_EQ(fresh.remaining, 10u);
  EXPECT_EQ(fresh.reset_after, Nanoseconds{0});
  const Decision first = counter.decide(6, kZero + seconds{20});
  EXPECT_EQ(first.remaining, 4u);
  EXPECT_EQ(first.reset_after, seconds{100}) << "the rest of this window and the next one";
  EXPECT_EQ(first.count_before, 0u);
  const Decision refused = counter.decide(5, kZero + seconds{20});
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.remaining, 4u);
  EXPECT_EQ(refused.retry_after, seconds{50}) << "a sixth of six must leave the next window's past";
  EXPECT_EQ(refused.count_before, 6u);
  const Decision never = counter.decide(11, kZero + seconds{20});
  EXPECT_EQ(never.outcome, Outcome::never);
  EXPECT_EQ(never.retry_after, Decision::kNever);
  EXPECT_EQ(never.remaining, 4u);
  const Decision half = counter.look(1, kZero + seconds{90});
  EXPECT_EQ(half.count_before, 3u);
  EXPECT_EQ(half.remaining, 7u);
  EXPECT_EQ(half.reset_after, seconds{30});
}

TEST(SlidingWindow, RetryOfTheWholeAmountWaitsUntilNothingCounts) {
  Counter counter{sliding_window(4, 10)};
  counter.decide(1, kZero + seconds{3});
  EXPECT_EQ(counter.look(4, kZero + seconds{3}).retry_after, seconds{17});
  counter.decide(1, kZero + seconds{10});
  EXPECT_EQ(counter.look(4, kZero + seconds{10}).retry_after, seconds{20});
}

TEST(SlidingWindow, CanRefuseWhereNothingWasAskedForNearlyAWindow) {
  Counter counter{sliding_window(5, 60)};
  counter.decide(5, kZero);
  const Instant next = kZero + seconds{60};
  EXPECT_EQ(counter.decide(1, next).outcome, Outcome::denied);
  EXPECT_EQ(counter.look(1, next).retry_after, seconds{12}) << "that is the price of two counts instead of a log";
}

TEST(SlidingWindow, ForgetsAfterTwoWindows) {
  Counter counter{sliding_window(5, 60)};
  counter.decide(5, kZero);
  EXPECT_EQ(fresh_at(counter.limit, counter.state), kZero + seconds{120});
  EXPECT_EQ(counter.look(1, kZero + seconds{120} - kTick).remaining, 4u);
  EXPECT_EQ(counter.admitted(9, kZero + seconds{120}), 5u);
  Counter later{sliding_window(5, 60)};
  later.decide(5, kZero);
  EXPECT_EQ(later.admitted(9, kZero + std::chrono::hours{24}), 5u);
}

TEST(SlidingWindow, RefundGoesToTheWindowThatWasChargedOrNowhere) {
  Counter counter{sliding_window(10, 60)};
  counter.decide(6, kZero);
  const Instant next = kZero + seconds{60};
  counter.decide(4, next);
  EXPECT_EQ(counter.look(1, next).remaining, 0u);
  const Decision former = counter.refund(2, next, kZero + seconds{30});
  EXPECT_TRUE(former.charged);
  EXPECT_EQ(former.remaining, 2u);
  EXPECT_EQ(counter.refund(3, next, next).remaining, 5u);
  EXPECT_EQ(counter.refund(100, next, next).remaining, 6u) << "no more than was charged there";
  EXPECT_FALSE(counter.refund(1, next, kZero - kTick).charged);
  EXPECT_EQ(counter.refund(100, next, kZero).remaining, 10u);
  EXPECT_EQ(counter.admitted(20, next), 10u);
}

TEST(SlidingWindow, DebitIsCountedInFull) {
  Counter counter{sliding_window(10, 60)};
  EXPECT_EQ(counter.debit(30, kZero).outcome, Outcome::allowed);
  const Decision refused = counter.look(10, kZero);
  EXPECT_EQ(refused.count_before, 30u);
  EXPECT_EQ(refused.retry_after, seconds{120});
  EXPECT_EQ(counter.look(1, kZero).retry_after, seconds{102});
}

TEST(SlidingWindow, WhoKeepsAskingWaitsForAWindowWithoutWhereRefusedCostCounts) {
  LimitOptions options = sliding_options(10, 60);
  options.count_refused = true;
  Counter counter{Limit::create(options).value()};
  EXPECT_EQ(counter.admitted(30, kZero), 10u);
  const Decision refused = counter.decide(1, kZero);
  EXPECT_TRUE(refused.charged);
  EXPECT_EQ(refused.count_before, 30u);
  EXPECT_GT(refused.retry_after, seconds{100});
  EXPECT_EQ(counter.look(1, kZero + refused.retry_after).outcome, Outcome::allowed);
  EXPECT_EQ(counter.decide(99, kZero).outcome, Outcome::never);
  EXPECT_EQ(counter.look(1, kZero).count_before, 130u);
}

TEST(SlidingWindow, ClockThatStepsBackOverABoundaryStaysInTheLaterWindow) {
  Counter counter{sliding_window(2, 60)};
  EXPECT_EQ(counter.admitted(3, kZero), 2u);
  const Decision refused = counter.decide(1, kZero - milliseconds{10});
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, seconds{90} + milliseconds{10});
}

TEST(SlidingWindow, ClockThatRanAwayAndCameBackStallsNoLongerThanTwoWindows) {
  Counter counter{sliding_window(2, 60)};
  EXPECT_EQ(counter.admitted(3, kZero + seconds{86'400}), 2u);
  const Decision refused = counter.decide(2, kZero);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, seconds{120});
  EXPECT_EQ(counter.decide(2, kZero + seconds{60}).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(2, kZero + seconds{120}).outcome, Outcome::allowed);
}

TEST(SlidingWindow, AmountOfZeroRefusesEverythingForEver) {
  Counter counter{sliding_window(0, 60)};
  for (const std::uint64_t cost : {0u, 1u, 5u}) {
    EXPECT_EQ(counter.decide(cost, kZero).outcome, Outcome::never) << cost;
    EXPECT_EQ(counter.decide(cost, kZero).remaining, 0u);
  }
}

TEST(SlidingWindow, LargestAmountAndWindowAreWeighedWithoutOverflow) {
  Counter counter{sliding_window(kMost, Limit::kMaxWindowSeconds)};
  EXPECT_EQ(counter.decide(kMost, kOddInstant).outcome, Outcome::allowed);
  EXPECT_EQ(counter.decide(1, kOddInstant).outcome, Outcome::denied);
  counter.debit(UINT64_MAX, kOddInstant);
  EXPECT_EQ(counter.decide(UINT64_MAX, kOddInstant).outcome, Outcome::never);
  EXPECT_EQ(counter.look(1, kOddInstant).count_before, (std::uint64_t{1} << 33) - 1);
}

}  // namespace
}  // namespace penstock::algorithm::testing
