#include <cstdint>

#include <gtest/gtest.h>

#include "penstock/algorithm/algorithm.h"
#include "penstock/algorithm/testing/limits.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kMinute = instant_from_unix_seconds(1'772'600'760);  // a whole minute
constexpr std::uint64_t kSaturated = (std::uint64_t{1} << 33) - 1;

TEST(FixedWindow, IsAlignedOnTheEpoch) {
  Counter counter{window(2, 60)};
  EXPECT_EQ(counter.admitted(3, kMinute - Nanoseconds{1}), 2u);
  const Decision refused = counter.look(1, kMinute - Nanoseconds{1});
  EXPECT_EQ(refused.retry_after, Nanoseconds{1});
  EXPECT_EQ(refused.reset_after, Nanoseconds{1});
  EXPECT_EQ(counter.admitted(3, kMinute), 2u) << "twice the amount over a boundary is what a fixed window promises";
}

TEST(FixedWindow, SaysTheFiveNumbers) {
  Counter counter{window(5, 60)};
  const Instant now = kMinute + seconds{20};
  const Decision fresh = counter.look(1, now);
  EXPECT_EQ(fresh.remaining, 5u);
  EXPECT_EQ(fresh.reset_after, Nanoseconds{0});
  const Decision first = counter.decide(3, now);
  EXPECT_EQ(first.remaining, 2u);
  EXPECT_EQ(first.reset_after, seconds{40});
  EXPECT_EQ(first.count_before, 0u);
  const Decision refused = counter.decide(3, now);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.remaining, 2u);
  EXPECT_EQ(refused.retry_after, seconds{40});
  EXPECT_EQ(refused.count_before, 3u);
  const Decision never = counter.decide(6, now);
  EXPECT_EQ(never.outcome, Outcome::never);
  EXPECT_EQ(never.retry_after, Decision::kNever);
  EXPECT_EQ(never.remaining, 2u);
}

TEST(FixedWindow, LookAtAFullWindowIsRefusedUnlessRefusedCostCounts) {
  Counter strict{window(2, 60)}, original{window(2, 60, true)};
  strict.decide(2, kMinute);
  original.decide(2, kMinute);
  EXPECT_EQ(strict.look(0, kMinute).outcome, Outcome::denied);
  EXPECT_EQ(original.look(0, kMinute).outcome, Outcome::allowed) << "2 is not above 2";
  original.decide(1, kMinute);
  EXPECT_EQ(original.look(0, kMinute).outcome, Outcome::denied);
}

TEST(FixedWindow, RefundGoesToTheWindowThatWasChargedOrNowhere) {
  Counter counter{window(5, 60)};
  counter.decide(4, kMinute);
  EXPECT_EQ(counter.refund(1, kMinute + seconds{59}, kMinute).remaining, 2u);
  EXPECT_EQ(counter.refund(100, kMinute + seconds{59}, kMinute).remaining, 5u);
  counter.decide(4, kMinute + seconds{60});
  const Decision late = counter.refund(4, kMinute + seconds{61}, kMinute + seconds{59});
  EXPECT_FALSE(late.charged);
  EXPECT_EQ(late.remaining, 1u);
}

TEST(FixedWindow, RefundOfWhatWasChargedJustNowCountsAlsoAfterTheClockSteppedBack) {
  Counter counter{window(5, 60)};
  counter.decide(4, kMinute);
  const Instant before = kMinute - seconds{1};
  EXPECT_EQ(counter.decide(1, before).remaining, 0u);
  EXPECT_EQ(counter.refund(1, before, before).remaining, 1u);
}

TEST(FixedWindow, ClockThatStepsBackOverABoundaryStaysInTheLaterWindow) {
  Counter counter{window(2, 60)};
  EXPECT_EQ(counter.admitted(3, kMinute), 2u);
  const Decision refused = counter.decide(1, kMinute - milliseconds{10});
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, seconds{60} + milliseconds{10});
}

TEST(FixedWindow, ClockThatRanAwayAndCameBackStallsNoLongerThanAWindow) {
  Counter counter{window(2, 60)};
  EXPECT_EQ(counter.admitted(3, kMinute + seconds{86'400}), 2u);
  EXPECT_EQ(counter.decide(1, kMinute).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(1, kMinute + seconds{59}).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(1, kMinute + seconds{60}).outcome, Outcome::allowed);
}

TEST(FixedWindow, CountSaturatesAboveEveryLimitAndStillRefuses) {
  Counter counter{window(kMost, 60, true)};
  EXPECT_EQ(counter.decide(UINT64_MAX, kMinute).outcome, Outcome::never);
  const Decision again = counter.decide(UINT64_MAX, kMinute);
  EXPECT_EQ(again.count_before, kSaturated);
  EXPECT_EQ(again.remaining, 0u);
  const Decision one = counter.decide(1, kMinute);
  EXPECT_EQ(one.outcome, Outcome::denied);
  EXPECT_EQ(one.count_before, kSaturated);
  EXPECT_EQ(counter.decide(1, kMinute + seconds{60}).outcome, Outcome::allowed);
}

TEST(FixedWindow, LargestAmountIsAdmittedInFullAndNotOneMore) {
  Counter counter{window(kMost, 60)};
  EXPECT_EQ(counter.decide(kMost, kMinute).outcome, Outcome::allowed);
  EXPECT_EQ(counter.decide(1, kMinute).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(UINT64_MAX, kMinute).outcome, Outcome::never);
}

TEST(FixedWindow, DebitIsCountedInFull) {
  Counter counter{window(5, 60)};
  EXPECT_EQ(counter.debit(7, kMinute).outcome, Outcome::allowed);
  EXPECT_EQ(counter.refund(3, kMinute, kMinute).remaining, 1u);
}

TEST(FixedWindow, IsFreshAtItsEnd) {
  Counter counter{window(5, 60)};
  EXPECT_EQ(fresh_at(counter.limit, counter.state), kStateEpoch);
  counter.decide(1, kMinute + seconds{7});
  EXPECT_EQ(fresh_at(counter.limit, counter.state), kMinute + seconds{60});
}

}  // namespace
}  // namespace penstock::algorithm::testing
