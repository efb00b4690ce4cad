#include "penstock/algorithm/sliding_log.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Nanoseconds kTick{1};

LimitOptions counting(LimitOptions options) {
  options.count_refused = true;
  return options;
}

TEST(SlidingLog, SaysTheFiveNumbers) {
  Counter counter{sliding_log(5, 60)};
  const Decision fresh = counter.look(1, kZero);
  EXPECT_EQ(fresh.remaining, 5u);
  EXPECT_EQ(fresh.reset_after, Nanoseconds{0});
  const Decision first = counter.decide(3, kZero);
  EXPECT_TRUE(first.charged);
  EXPECT_EQ(first.remaining, 2u);
  EXPECT_EQ(first.reset_after, seconds{60});
  EXPECT_EQ(counter.decide(1, kZero + seconds{10}).reset_after, seconds{60});
  const Decision refused = counter.decide(2, kZero + seconds{20});
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_FALSE(refused.charged);
  EXPECT_EQ(refused.remaining, 1u);
  EXPECT_EQ(refused.retry_after, seconds{40});
  EXPECT_EQ(refused.reset_after, seconds{50});
  const Decision never = counter.decide(6, kZero + seconds{20});
  EXPECT_EQ(never.outcome, Outcome::never);
  EXPECT_EQ(never.retry_after, Decision::kNever);
  EXPECT_EQ(never.remaining, 1u);
}

TEST(SlidingLog, WhatWasChargedStopsCountingAWindowLaterToTheTick) {
  Counter counter{sliding_log(3, 60)};
  for (const int second : {0, 10, 25}) counter.decide(1, kOddInstant + seconds{second});
  for (const int second : {60, 70, 85}) {
    const Instant over = kOddInstant + seconds{second};
    EXPECT_EQ(counter.decide(1, over - kTick).outcome, Outcome::denied) << second;
    EXPECT_EQ(counter.decide(1, over - kTick).retry_after, kTick) << second;
    EXPECT_EQ(counter.decide(1, over).outcome, Outcome::allowed) << second;
    EXPECT_EQ(counter.decide(1, over).outcome, Outcome::denied) << second;
  }
}

TEST(SlidingLog, CostWaitsUntilEnoughOfTheOldestIsOver) {
  Counter counter{sliding_log(10, 60)};
  for (const auto& [cost, second] : {std::pair{4, 0}, {1, 10}, {3, 20}, {2, 30}}) {
    counter.decide(static_cast<std::uint64_t>(cost), kZero + seconds{second});
  }
  const Instant now = kZero + seconds{40};
  for (const auto& [cost, wait] : {std::pair{1, 20}, {4, 20}, {5, 30}, {6, 40}, {8, 40}, {9, 50}, {10, 50}}) {
    EXPECT_EQ(counter.look(static_cast<std::uint64_t>(cost), now).retry_after, seconds{wait}) << cost;
  }
}

TEST(SlidingLog, HitsAtOneInstantAllCountAndTakeOneEntry) {
  Counter counter{sliding_log(1000, 60)};
  EXPECT_EQ(counter.admitted(1500, kOddInstant), 1000u);
  EXPECT_EQ(log_size(counter.state), 1u);
  EXPECT_EQ(counter.admitted(1500, kOddInstant + seconds{60} - kTick), 0u);
  EXPECT_EQ(counter.admitted(1500, kOddInstant + seconds{60}), 1000u);
}

TEST(SlidingLog, LookIsRefusedWhenNothingRemains) {
  Counter counter{sliding_log(2, 60)};
  counter.decide(1, kZero);
  EXPECT_EQ(counter.look(0, kZero).outcome, Outcome::allowed);
  counter.decide(1, kZero + seconds{1});
  EXPECT_EQ(counter.look(0, kZero + seconds{1}).outcome, Outcome::denied);
  EXPECT_EQ(counter.look(0, kZero + seconds{1}).retry_after, seconds{59});
  EXPECT_EQ(counter.decide(0, kZero + seconds{60}).outcome, Outcome::allowed);
  EXPECT_FALSE(counter.decide(0, kZero + seconds{60}).charged);
}

TEST(SlidingLog, ClockThatStepsBackChargesAtTheNewestEntryAndForgetsNothing) {
  Counter counter{sliding_log(3, 60)};
  counter.decide(1, kZero);
  counter.decide(1, kZero + milliseconds{900});
  EXPECT_EQ(counter.decide(1, kZero).outcome, Outcome::allowed);
  EXPECT_EQ(counter.decide(1, kZero).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(1, kZero).reset_after, seconds{60} + milliseconds{900});
  EXPECT_EQ(counter.admitted(3, kZero + seconds{60}), 1u);
  EXPECT_EQ(counter.admitted(3, kZero + seconds{60} + milliseconds{900}), 2u);
}

TEST(SlidingLog, ClockThatRanAwayAndCameBackStallsForAWindowAtMost) {
  Counter counter{sliding_log(3, 60)};
  counter.decide(1, kZero);
  counter.decide(2, kZero + std::chrono::hours{1});
  const Decision refused = counter.decide(2, kZero + seconds{1});
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, seconds{60});
  EXPECT_EQ(refused.remaining, 1u) << "the first one was over when the others were charged";
  EXPECT_EQ(counter.decide(2, kZero + seconds{30}).retry_after, seconds{31}) << "the wait does not start anew";
  EXPECT_EQ(counter.decide(3, kZero + seconds{61}).outcome, Outcome::allowed);
}

TEST(SlidingLog, ClockIsTakenToHaveRunAwayFromMoreThanAWindowOn) {
  for (const auto& [behind, reset] :
       {std::pair{Nanoseconds{seconds{60}}, seconds{120}}, {seconds{60} + kTick, seconds{60}}}) {
    Counter counter{sliding_log(3, 60)};
    counter.decide(1, kOddInstant);
    EXPECT_EQ(counter.decide(1, kOddInstant - behind).reset_after, reset) << behind.count();
  }
}

// One a second, sixty a minute: nothing is to spare.
TEST(SlidingLog, ClockThatStepsBackStallsAConformingCallerForTheStepAndNotForAWindow) {
  for (const Nanoseconds back : {Nanoseconds{milliseconds{900}}, Nanoseconds{milliseconds{2500}}, {seconds{30}}}) {
    Counter counter{sliding_log(60, 60)};
    Nanoseconds stalled{0};
    for (int second = 0; second < 300; ++second) {
      const Instant steady = kOddInstant + seconds{second};
      const bool passes = counter.decide(1, second < 200 ? steady : steady - back).outcome == Outcome::allowed;
      if (!passes) stalled += seconds{1};
    }
    EXPECT_LE(stalled, back + seconds{1}) << back.count();
  }
}

TEST(SlidingLog, RefundTakesFromTheOldest) {
  Counter counter{sliding_log(10, 60)};
  for (const int second : {0, 10, 20}) counter.decide(3, kZero + seconds{second});
  const Instant now = kZero + seconds{20};
  const Decision refund = counter.refund(4, now, now);
  EXPECT_TRUE(refund.charged);
  EXPECT_EQ(refund.remaining, 5u);
  EXPECT_EQ(counter.look(6, now).retry_after, seconds{50}) << "the first is gone, two of the second are left";
  EXPECT_EQ(counter.look(8, now).retry_after, seconds{60});
}

TEST(SlidingLog, RefundGivesBackNoMoreThanWasChargedAndLeavesAFreshState) {
  Counter counter{sliding_log(10, 60)};
  for (const int second : {0, 10, 20}) counter.decide(2, kZero + seconds{second});
  EXPECT_EQ(counter.refund(1000, kZero + seconds{20}, kZero).remaining, 10u);
  EXPECT_EQ(counter.state, State{});
  EXPECT_FALSE(counter.refund(1, kZero + seconds{20}, kZero).charged);
  EXPECT_EQ(counter.decide(11, kZero + seconds{20}).outcome, Outcome::never);
}

TEST(SlidingLog, RefundOfWhatIsOverIsDropped) {
  Counter counter{sliding_log(5, 60)};
  counter.decide(5, kZero);
  counter.decide(5, kZero + seconds{60});
  EXPECT_FALSE(counter.refund(5, kZero + seconds{60}, kZero).charged);
  EXPECT_EQ(counter.look(1, kZero + seconds{60}).remaining, 0u);
  EXPECT_TRUE(counter.refund(5, kZero + seconds{60}, kZero + kTick).charged);
}

TEST(SlidingLog, DebitIsClampedAtTheAmount) {
  Counter counter{sliding_log(5, 60)};
  counter.decide(3, kZero);
  const Decision debit = counter.debit(1000, kZero + seconds{10});
  EXPECT_TRUE(debit.charged);
  EXPECT_EQ(debit.outcome, Outcome::allowed);
  EXPECT_EQ(debit.remaining, 0u);
  const Decision more = counter.debit(1, kZero + seconds{20});
  EXPECT_EQ(more.reset_after, seconds{50}) << "there was nothing left to take";
  EXPECT_FALSE(more.charged);
  EXPECT_EQ(counter.look(0, kZero + seconds{60}).remaining, 3u);
  EXPECT_EQ(counter.look(0, kZero + seconds{70}).remaining, 5u);
}

TEST(SlidingLog, RefusedCostIsDebitedWhereItCounts) {
  Counter counter{Limit::create(counting(log_options(5, 60))).value()};
  counter.decide(3, kZero);
  const Decision refused = counter.decide(4, kZero + seconds{10});
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_TRUE(refused.charged);
  EXPECT_EQ(refused.remaining, 0u);
  EXPECT_EQ(refused.retry_after, seconds{60}) << "2 of the refused cost count from now on";
  EXPECT_EQ(counter.decide(6, kZero + seconds{60}).outcome, Outcome::never);
  EXPECT_EQ(counter.look(0, kZero + seconds{60}).remaining, 0u);
  EXPECT_EQ(counter.look(0, kZero + seconds{120}).remaining, 5u);
}

TEST(SlidingLog, WhoKeepsAskingKeepsBeingRefusedWhereRefusedCostCounts) {
  Counter counter{Limit::create(counting(log_options(5, 60))).value()};
  for (int second = 0; second < 600; ++second) {
    const Decision decision = counter.decide(1, kZero + seconds{second});
    ASSERT_EQ(decision.outcome == Outcome::allowed, second < 5) << second;
    if (second < 5) continue;
    EXPECT_TRUE(decision.charged);
    EXPECT_EQ(decision.retry_after, seconds{56}) << "the oldest of the last five";
    EXPECT_EQ(decision.reset_after, seconds{60});
  }
  EXPECT_EQ(counter.look(1, kZero + seconds{655} - kTick).outcome, Outcome::denied);
  EXPECT_EQ(counter.look(1, kZero + seconds{655}).outcome, Outcome::allowed);
  EXPECT_EQ(counter.look(0, kZero + seconds{659}).remaining, 5u);
}

TEST(SlidingLog, RefusedCostTakesThePlaceOfTheOldestAndNoMoreThanTheAmount) {
  Counter counter{Limit::create(counting(log_options(5, 60))).value()};
  counter.decide(2, kZero);
  counter.decide(3, kZero + seconds{10});
  const Decision refused = counter.decide(3, kZero + seconds{20});
  EXPECT_EQ(refused.retry_after, seconds{60}) << "two of the second are left, three count from now on";
  EXPECT_EQ(counter.look(2, kZero + seconds{20}).retry_after, seconds{50});
  EXPECT_TRUE(counter.decide(1'000, kZero + seconds{20}).charged);
  EXPECT_EQ(counter.look(1, kZero + seconds{20}).retry_after, seconds{60});
  EXPECT_FALSE(counter.decide(1'000, kZero + seconds{20}).charged) << "all of it counts from now on already";
}

TEST(SlidingLog, ChangedAmountKeepsTheEntries) {
  Counter counter{sliding_log(10, 60)};
  for (int second = 0; second < 8; ++second) counter.decide(1, kZero + seconds{second});
  const Instant now = kZero + seconds{10};
  counter.limit = sliding_log(5, 60);
  const Decision refused = counter.look(1, now);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.remaining, 0u);
  EXPECT_EQ(refused.retry_after, seconds{53}) << "when four are over";
  counter.debit(1, now);
  counter.limit = sliding_log(20, 60);
  EXPECT_EQ(counter.look(1, now).remaining, 12u);
}

TEST(SlidingLog, ChangedWindowKeepsTheEntries) {
  Counter counter{sliding_log(10, 60)};
  for (int second = 0; second < 8; ++second) counter.decide(1, kZero + seconds{second});
  counter.limit = sliding_log(10, 5);
  EXPECT_EQ(counter.look(1, kZero + seconds{8}).remaining, 6u);
  counter.limit = sliding_log(10, 3600);
  EXPECT_EQ(counter.look(10, kZero + seconds{8}).retry_after, seconds{3599});
  EXPECT_EQ(sliding_log(10, 60).scale_check(), sliding_log(3, 5).scale_check());
}

TEST(SlidingLog, FreshIsAWindowAfterTheNewestEntry) {
  Counter counter{sliding_log(10, 60)};
  EXPECT_EQ(counter.fresh_at(), kStateEpoch);
  for (const int second : {0, 10, 20}) {
    counter.decide(1, kZero + seconds{second});
    EXPECT_EQ(counter.fresh_at(), kZero + seconds{second + 60});
  }
}

// What was admitted, and the most in any half-open interval of a window.
class Admissions {
 public:
  explicit Admissions(const Limit& limit) : window_{seconds{limit.window_seconds()}} {}

  void add(Instant at, std::uint64_t cost) {
    admitted_.push_back({at, cost});
    sum_ += cost;
    while (at - admitted_[oldest_].at >= window_) sum_ -= admitted_[oldest_++].cost;
    most_ = std::max(most_, sum_);
  }
  [[nodiscard]] std::uint64_t most() const { return most_; }

 private:
  struct Admission {
    Instant at;
    std::uint64_t cost;
  };
  Nanoseconds window_;
  std::vector<Admission> admitted_;
  std::size_t oldest_ = 0;
  std::uint64_t sum_ = 0, most_ = 0;
};

// Streams that try to get more than the amount through within a window: as often as they can, all at once and then
// again at the first possible instant, around the ends of windows, at random.
Nanoseconds adversarial_step(Random& random, const Decision& last, Nanoseconds window) {
  const auto up_to = [&](std::int64_t most) {
    return Nanoseconds{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most) + 1))};
  };
  switch (random.below(6)) {
    case 0: return Nanoseconds{0};
    case 1: return kTick;
    case 2: return last.retry_after > kTick ? last.retry_after - kTick : kTick;
    case 3: return last.retry_after > Nanoseconds{0} ? last.retry_after : Nanoseconds{0};
    case 4: return last.reset_after;
    default: return up_to(window.count() / 4);
  }
}

TEST(SlidingLog, NoStreamGetsMoreThanTheAmountInAnyWindow) {
  for (const auto& [amount, length] : {std::pair{1u, 1}, {2u, 1}, {7u, 3}, {100u, 60}, {1000u, 3600}}) {
    std::uint64_t worst = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Counter counter{sliding_log(amount, length)};
      Admissions admissions{counter.limit};
      Random random{seed};
      Instant now = kOddInstant;
      Decision last;
      for (int step = 0; step < 2000; ++step) {
        now += adversarial_step(random, last, seconds{length});
        const std::uint64_t cost = random.below(5) == 0 ? 1 + random.below(amount) : 1 + random.below(2);
        last = counter.decide(cost, now);
        if (last.outcome == Outcome::allowed) admissions.add(now, cost);
        ASSERT_LE(admissions.most(), amount) << "seed " << seed << " step " << step;
      }
      worst = std::max(worst, admissions.most());
    }
    EXPECT_EQ(worst, amount) << "and the amount is reached";
  }
}

TEST(SlidingLog, StreamWithinTheAmountIsNeverRefused) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random{seed};
    const auto amount = static_cast<std::uint32_t>(1 + random.below(50));
    Counter counter{sliding_log(amount, 10)};
    std::vector<Instant> taken;  // one by one, each at least a window after the one `amount` before it
    Instant now = kOddInstant;
    for (int step = 0; step < 1000; ++step) {
      now += Nanoseconds{static_cast<std::int64_t>(random.below(20'000'000'000 / amount))};
      if (taken.size() >= amount) now = std::max(now, taken[taken.size() - amount] + seconds{10});
      ASSERT_EQ(counter.decide(1, now).outcome, Outcome::allowed) << "seed " << seed << " step " << step;
      taken.push_back(now);
    }
  }
}

}  // namespace
}  // namespace penstock::algorithm::testing
