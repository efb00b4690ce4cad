#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/store/testing/conformance.h"

// One counter at a time: see conformance.h.

namespace penstock::store::testing {

using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_P(StoreConformance, WindowAdmitsItsAmountAndNotOneMore) {
  const algorithm::Limit limit = window(3, 60);
  const Charge one = charge("k", limit, 1);
  for (std::uint32_t left = 3; left-- > 0;) {
    const Decision decision = decide(one, kStart);
    EXPECT_EQ(decision.outcome, Outcome::allowed);
    EXPECT_TRUE(decision.charged);
    EXPECT_EQ(decision.remaining, left);
  }
  const Decision refused = decide(one, kStart);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_FALSE(refused.charged);
  EXPECT_EQ(refused.count_before, 3u);
  EXPECT_EQ(decide(one, kStart + refused.retry_after - tick()).outcome, Outcome::denied);
  EXPECT_EQ(decide(one, kStart + refused.retry_after).outcome, Outcome::allowed);
}

TEST_P(StoreConformance, WindowThatCountsRefusedCostGoesOnCounting) {
  const algorithm::Limit limit = window(3, 60, true);
  EXPECT_EQ(decide(charge("k", limit, 2), kStart).outcome, Outcome::allowed);
  const Decision refused = decide(charge("k", limit, 2), kStart);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_TRUE(refused.charged);
  const Decision again = decide(charge("k", limit, 1), kStart);
  EXPECT_EQ(again.outcome, Outcome::denied) << "the refused cost was counted";
  EXPECT_EQ(again.count_before, 4u);
}

TEST_P(StoreConformance, WindowThatDoesNotCountRefusedCostStillAdmitsWhatFits) {
  const algorithm::Limit limit = window(3, 60);
  EXPECT_EQ(decide(charge("k", limit, 2), kStart).outcome, Outcome::allowed);
  EXPECT_EQ(decide(charge("k", limit, 2), kStart).outcome, Outcome::denied);
  EXPECT_EQ(decide(charge("k", limit, 1), kStart).outcome, Outcome::allowed);
}

TEST_P(StoreConformance, GcraAdmitsItsBurstAtOnceAndThenItsRate) {
  const algorithm::Limit limit = gcra(7, 1, 5);
  const Charge one = charge("k", limit, 1);
  for (std::uint32_t left = 5; left-- > 0;) EXPECT_EQ(decide(one, kStart).remaining, left);
  const Decision refused = decide(one, kStart);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, told(Nanoseconds{142'857'143}));
  EXPECT_EQ(decide(one, kStart + refused.retry_after).outcome, Outcome::allowed);
  EXPECT_EQ(decide(one, kStart + refused.retry_after).outcome, Outcome::denied);
  EXPECT_EQ(remaining(one, kStart + seconds{10}), 5u);
}

TEST_P(StoreConformance, CostAboveTheCapacityIsNeverAndChangesNothing) {
  const algorithm::Limit limits[] = {window(3, 60), gcra(3, 2, 3), sliding_log(3, 60)};
  for (const algorithm::Limit& limit : limits) {
    const std::string name{algorithm::to_string(limit.algorithm())};
    const Decision never = decide(charge(name.c_str(), limit, 4), kStart);
    EXPECT_EQ(never.outcome, Outcome::never) << name;
    EXPECT_EQ(never.retry_after, Decision::kNever) << name;
    EXPECT_FALSE(never.charged) << name;
    EXPECT_EQ(decide(charge(name.c_str(), limit, 3), kStart).outcome, Outcome::allowed) << name;
  }
}

TEST_P(StoreConformance, LookSaysWhatDecideWouldSayAndWritesNothing) {
  const algorithm::Limit limits[] = {window(3, 60), window(3, 60, true), gcra(3, 2, 3), sliding_log(3, 60)};
  int number = 0;
  for (const algorithm::Limit& limit : limits) {
    const std::string name = std::to_string(number++);
    const Charge two = charge(name.c_str(), limit, 2);
    for (int round = 0; round < 5; ++round) {
      const Decision seen = look(two, kStart);
      EXPECT_EQ(seen.outcome, Outcome::allowed) << name;
      EXPECT_EQ(seen.remaining, 3u) << name;
      EXPECT_FALSE(seen.charged) << name;
    }
    EXPECT_EQ(decide(two, kStart).outcome, Outcome::allowed) << name;
    EXPECT_EQ(look(two, kStart).outcome, Outcome::denied) << name;
    EXPECT_EQ(look(two, kStart).outcome, Outcome::denied) << name;
    EXPECT_EQ(remaining(two, kStart), 1u) << name;
  }
}

TEST_P(StoreConformance, DecideOfCostZeroWritesNothing) {
  const algorithm::Limit limit = gcra(1, 1, 1);
  for (int round = 0; round < 3; ++round) {
    const Decision decision = decide(charge("k", limit, 0), kStart);
    EXPECT_EQ(decision.outcome, Outcome::allowed);
    EXPECT_FALSE(decision.charged);
  }
  EXPECT_EQ(decide(charge("k", limit, 1), kStart).outcome, Outcome::allowed);
  EXPECT_EQ(decide(charge("k", limit, 0), kStart).outcome, Outcome::denied);
}

TEST_P(StoreConformance, RefundGivesBackButNeverMoreThanWasUsed) {
  const algorithm::Limit limits[] = {window(5, 60), gcra(5, 60, 5), sliding_log(5, 60)};
  for (const algorithm::Limit& limit : limits) {
    const std::string name{algorithm::to_string(limit.algorithm())};
    const auto of = [&](std::uint64_t cost) { return charge(name.c_str(), limit, cost); };
    EXPECT_EQ(decide(of(4), kStart).remaining, 1u) << name;
    EXPECT_EQ(apply(Verb::refund, of(2), kStart).remaining, 3u) << name;
    EXPECT_EQ(apply(Verb::refund, of(1'000'000), kStart).remaining, 5u) << name;
    EXPECT_EQ(decide(of(6), kStart).outcome, Outcome::never) << name;
    EXPECT_EQ(decide(of(5), kStart).outcome, Outcome::allowed) << name;
    EXPECT_EQ(decide(of(1), kStart).outcome, Outcome::denied) << name;
  }
}

TEST_P(StoreConformance, RefundOfAFreshCounterChangesNothing) {
  const algorithm::Limit limits[] = {window(5, 60), gcra(5, 60, 5), sliding_log(5, 60)};
  for (const algorithm::Limit& limit : limits) {
    const std::string name{algorithm::to_string(limit.algorithm())};
    const Decision refund = apply(Verb::refund, charge(name.c_str(), limit, 3), kStart);
    EXPECT_EQ(refund.outcome, Outcome::allowed) << name;
    EXPECT_FALSE(refund.charged) << name;
    EXPECT_EQ(refund.remaining, 5u) << name;
  }
}

TEST_P(StoreConformance, RefundOfAWindowThatIsOverIsDropped) {
  const algorithm::Limit limit = window(5, 60);
  EXPECT_EQ(decide(charge("k", limit, 5), kStart).outcome, Outcome::allowed);
  const Instant next = kStart + seconds{60};
  EXPECT_EQ(decide(charge("k", limit, 5), next).outcome, Outcome::allowed);
  Charge refund = charge("k", limit, 5);
  refund.charged_at = kStart;
  EXPECT_FALSE(apply(Verb::refund, refund, next).charged);
  EXPECT_EQ(remaining(refund, next), 0u);
  refund.charged_at = next;
  EXPECT_TRUE(apply(Verb::refund, refund, next).charged);
  EXPECT_EQ(remaining(refund, next), 5u);
}

TEST_P(StoreConformance, DebitChargesWhateverRemains) {
  const algorithm::Limit limits[] = {window(5, 60), gcra(5, 60, 5), sliding_log(5, 60)};
  for (const algorithm::Limit& limit : limits) {
    const std::string name{algorithm::to_string(limit.algorithm())};
    const auto of = [&](std::uint64_t cost) { return charge(name.c_str(), limit, cost); };
    const Decision first = apply(Verb::debit, of(3), kStart);
    EXPECT_EQ(first.outcome, Outcome::allowed) << name;
    EXPECT_EQ(first.remaining, 2u) << name;
    EXPECT_EQ(apply(Verb::debit, of(100), kStart).remaining, 0u) << name;
    EXPECT_EQ(decide(of(1), kStart).outcome, Outcome::denied) << name;
    EXPECT_EQ(remaining(of(1), kStart + seconds{60}), 5u) << name;
  }
}

TEST_P(StoreConformance, SeparateCountersAreSeparate) {
  const algorithm::Limit limit = gcra(1, 60, 1);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "k" + std::to_string(i);
    EXPECT_EQ(decide(charge(name.c_str(), limit, 1), kStart).outcome, Outcome::allowed) << name;
  }
  for (int i = 0; i < 100; ++i) {
    const std::string name = "k" + std::to_string(i);
    EXPECT_EQ(decide(charge(name.c_str(), limit, 1), kStart).outcome, Outcome::denied) << name;
  }
}

TEST_P(StoreConformance, ClockThatStepsBackAdmitsNothingMore) {
  const algorithm::Limit limits[] = {window(2, 60), gcra(2, 60, 2), sliding_log(2, 60)};
  for (const algorithm::Limit& limit : limits) {
    const std::string name{algorithm::to_string(limit.algorithm())};
    const bool meets_former_window = names_windows() && limit.is_window();
    const Charge one = charge(name.c_str(), limit, 1);
    EXPECT_EQ(decide(one, kStart).outcome, Outcome::allowed) << name;
    EXPECT_EQ(decide(one, kStart).outcome, Outcome::allowed) << name;
    for (const auto step : {seconds{1}, seconds{7}, seconds{20}, seconds{0}}) {
      if (meets_former_window && step > seconds{7}) continue;
      EXPECT_EQ(decide(one, kStart - step).outcome, Outcome::denied) << name << " " << step.count();
    }
  }
}

TEST_P(StoreConformance, ClockThatRanAwayAndCameBackStallsNoLongerThanARefill) {
  const algorithm::Limit limits[] = {window(2, 60), gcra(2, 60, 2), sliding_log(2, 60)};
  for (const algorithm::Limit& limit : limits) {
    const bool stalls = !(names_windows() && limit.is_window());
    for (const GroupMode mode : {GroupMode::each, GroupMode::all_or_nothing}) {
      const std::string name = std::string{algorithm::to_string(limit.algorithm())} + std::to_string(int(mode));
      const GroupOf one = {.mode = mode, .charges = {charge(name.c_str(), limit, 1)}};
      for (int i = 0; i < 2; ++i) EXPECT_TRUE(submit({one}, kStart + seconds{86'400})[0].charged) << name;
      if (stalls) {
        EXPECT_EQ(submit({one}, kStart)[0].outcome, Outcome::denied) << name;
        EXPECT_EQ(submit({one}, kStart + seconds{1})[0].outcome, Outcome::denied) << name;
      }
      EXPECT_EQ(submit({one}, kStart + seconds{60})[0].outcome, Outcome::allowed) << name;
    }
  }
}

TEST_P(StoreConformance, ChangedAmountOfAWindowKeepsWhatWasCounted) {
  const algorithm::Limit before = window(10, 3600), lowered = window(5, 3600), raised = window(20, 3600);
  EXPECT_EQ(decide(charge("k", before, 8), kStart).outcome, Outcome::allowed);
  const Decision refused = decide(charge("k", lowered, 1), kStart);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.remaining, 0u);
  EXPECT_EQ(decide(charge("k", raised, 1), kStart).remaining, 11u);
}

TEST_P(StoreConformance, ChangedRateKeepsWhenTheCounterIsFreshAgain) {
  const algorithm::Limit before = gcra(6, 60, 6);  // one in ten seconds
  const algorithm::Limit after = gcra(7, 60, 7);
  ASSERT_NE(before.scale_check(), after.scale_check());
  EXPECT_EQ(decide(charge("k", before, 3), kStart).reset_after, seconds{30});
  const Decision seen = look(charge("k", after, 0), kStart);
  EXPECT_GE(seen.reset_after, seconds{30});
  EXPECT_LE(seen.reset_after, seconds{31}) << "rounded up by less than a second";
  EXPECT_EQ(decide(charge("k", after, 1), kStart).outcome, Outcome::allowed);
  EXPECT_EQ(remaining(charge("k", after, 0), kStart + seconds{60}), 7u);
}

TEST_P(StoreConformance, ChangedRateNeverLeavesMoreDebtThanAFullBurst) {
  const algorithm::Limit before = gcra(1, 3600, 1);
  const algorithm::Limit after = gcra(7, 1, 7);
  EXPECT_EQ(decide(charge("k", before, 1), kStart).outcome, Outcome::allowed);
  const Decision refused = decide(charge("k", after, 1), kStart);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_LE(refused.retry_after, milliseconds{143});
  EXPECT_EQ(remaining(charge("k", after, 0), kStart + seconds{1}), 7u);
}

}  // namespace penstock::store::testing
