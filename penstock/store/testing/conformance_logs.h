#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/store/testing/conformance.h"

// Sliding logs, of which a store keeps more than a state: see conformance.h.

namespace penstock::store::testing {

using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_P(StoreConformance, LogRemembersEveryChargeForAsLongAsItCounts) {
  const algorithm::Limit limit = sliding_log(100, 60);
  const Charge one = charge("k", limit, 1);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) {
      const Instant now = kStart + seconds{60 * round} + milliseconds{i * i};
      if (round > 0) {
        EXPECT_EQ(decide(one, now - tick()).retry_after, tick()) << round << " " << i;
      }
      ASSERT_EQ(decide(one, now).outcome, Outcome::allowed) << round << " " << i;
    }
  }
}

TEST_P(StoreConformance, ChargesOfALogAtOneInstantAllCount) {
  const algorithm::Limit limit = sliding_log(10, 60);
  std::uint64_t admitted = 0;
  for (int i = 0; i < 20; ++i) admitted += decide(charge("k", limit, 1), kStart).outcome == Outcome::allowed;
  EXPECT_EQ(admitted, 10u);
  EXPECT_EQ(remaining(charge("k", limit, 0), kStart + seconds{60} - tick()), 0u);
  EXPECT_EQ(remaining(charge("k", limit, 0), kStart + seconds{60}), 10u);
}

// What a log of 60 seconds still admits, second by second until it is fresh.
template <class Remaining>
std::vector<std::uint32_t> course_of(Remaining remaining, Instant now) {
  std::vector<std::uint32_t> course;
  for (int second = 0; second <= 60; ++second) course.push_back(remaining(now + seconds{second}));
  return course;
}

TEST_P(StoreConformance, RefusedGroupsAndLooksLeaveALogAsItWas) {
  const algorithm::Limit limit = sliding_log(30, 60), none = window(0, 60);
  const Charge tried = charge("tried", limit, 1), control = charge("control", limit, 1),
               two = charge("tried", limit, 2);
  for (int second = 0; second < 20; ++second) {
    const Instant now = kStart + seconds{second};
    for (const GroupMode mode : {GroupMode::all_or_nothing, GroupMode::spare_others}) {
      const auto refused = submit({{.mode = mode, .charges = {tried, two, charge("none", none, 1)}}}, now);
      EXPECT_FALSE(refused[0].charged || refused[1].charged);
    }
    submit({{.charges = {two, two}, .verb = Verb::look}}, now + milliseconds{1});
    EXPECT_EQ(decide(tried, now + milliseconds{2}), decide(control, now + milliseconds{2})) << second;
  }
  const Instant end = kStart + seconds{20};
  EXPECT_EQ(course_of([&](Instant now) { return remaining(tried, now); }, end),
            course_of([&](Instant now) { return remaining(control, now); }, end));
}

TEST_P(StoreConformance, WhoKeepsAskingALogThatCountsRefusedCostKeepsBeingRefused) {
  for (const std::uint32_t amount : {1u, 5u, 8u, 16u, 40u}) {
    const algorithm::Limit limit = algorithm::Limit::create({.algorithm = algorithm::Algorithm::sliding_log,
                                                             .amount = amount,
                                                             .window_seconds = 60,
                                                             .count_refused = true})
                                       .value();
    const std::string name = "k" + std::to_string(amount);
    const Charge one = charge(name.c_str(), limit, 1);
    for (std::uint32_t second = 0; second < 200; ++second) {
      const Decision decision = decide(one, kStart + seconds{second});
      ASSERT_EQ(decision.outcome == Outcome::allowed, second < amount) << amount << " at " << second;
      ASSERT_TRUE(decision.charged);
    }
    const Instant oldest_is_over = kStart + seconds{260 - amount};
    EXPECT_EQ(remaining(one, oldest_is_over - tick()), 0u) << amount;
    EXPECT_EQ(remaining(one, oldest_is_over), 1u) << amount;
    EXPECT_EQ(remaining(one, kStart + seconds{259}), amount);
  }
}

TEST_P(StoreConformance, GroupChargesItsLogsAllOrNone) {
  const algorithm::Limit three = sliding_log(3, 60), five = sliding_log(5, 60);
  for (int second = 0; second < 5; ++second) {
    const GroupOf both = {.mode = GroupMode::all_or_nothing, .charges = {charge("a", three, 1), charge("b", five, 1)}};
    const auto decisions = submit({both}, kStart + seconds{second});
    EXPECT_EQ(decisions[0].charged, second < 3) << second;
    EXPECT_EQ(decisions[1].charged, second < 3) << second;
  }
  EXPECT_EQ(remaining(charge("a", three, 0), kStart + seconds{5}), 0u);
  EXPECT_EQ(remaining(charge("b", five, 0), kStart + seconds{5}), 2u);
  EXPECT_EQ(remaining(charge("b", five, 0), kStart + seconds{61}), 4u);
}

TEST_P(StoreConformance, ChargesOfOneGroupOnOneLogSeeEachOther) {
  const algorithm::Limit limit = sliding_log(10, 60);
  const Charge three = charge("k", limit, 3);
  decide(charge("k", limit, 2), kStart);
  const GroupOf group = {.mode = GroupMode::all_or_nothing, .charges = {three, three}};
  EXPECT_EQ(submit({group}, kStart + seconds{1})[1].remaining, 2u);
  const auto refused = submit({group}, kStart + seconds{2});
  EXPECT_EQ(refused[0].outcome, Outcome::denied);
  EXPECT_EQ(refused[0].retry_after, seconds{58}) << "2 are left and 2 come back with the first charge";
  EXPECT_EQ(refused[1].outcome, Outcome::denied);
  EXPECT_EQ(remaining(three, kStart + seconds{60}), 4u);
}

TEST_P(StoreConformance, RefundOfALogTakesFromTheOldestAndMakesItFreshAtLast) {
  const algorithm::Limit limit = sliding_log(12, 60);
  for (int second = 0; second < 12; ++second) decide(charge("k", limit, 1), kStart + seconds{second});
  const Instant now = kStart + seconds{12};
  EXPECT_EQ(apply(Verb::refund, charge("k", limit, 5), now).remaining, 5u);
  EXPECT_EQ(remaining(charge("k", limit, 0), kStart + seconds{65} - tick()), 5u);
  EXPECT_EQ(remaining(charge("k", limit, 0), kStart + seconds{65}), 6u);
  EXPECT_EQ(apply(Verb::refund, charge("k", limit, 7), now).reset_after, Nanoseconds{0});
  EXPECT_EQ(decide(charge("k", limit, 12), now).outcome, Outcome::allowed);
}

TEST_P(StoreConformance, ChangedAmountOrWindowOfALogKeepsWhatWasCharged) {
  const algorithm::Limit before = sliding_log(10, 60), lowered = sliding_log(5, 60), longer = sliding_log(10, 120);
  for (int second = 0; second < 8; ++second) decide(charge("k", before, 1), kStart + seconds{second});
  const Instant now = kStart + seconds{8};
  EXPECT_EQ(decide(charge("k", lowered, 1), now).retry_after, seconds{55});
  EXPECT_EQ(decide(charge("k", longer, 1), now).remaining, 1u);
  EXPECT_EQ(remaining(charge("k", longer, 0), kStart + seconds{119}), 1u);
  EXPECT_EQ(remaining(charge("k", longer, 0), kStart + seconds{121}), 3u);
}

}  // namespace penstock::store::testing
