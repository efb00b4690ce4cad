#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/store/testing/conformance.h"

// Groups, batches, and answers that come late: see conformance.h.

namespace penstock::store::testing {

using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;
using std::chrono::seconds;

TEST_P(StoreConformance, EachDecidesEveryChargeOnItsOwn) {
  const algorithm::Limit two = window(2, 60), five = gcra(5, 60, 5);
  const auto decisions = submit({{.charges = {charge("a", two, 3), charge("b", five, 3)}}}, kStart);
  EXPECT_EQ(decisions[0].outcome, Outcome::never);
  EXPECT_EQ(decisions[1].outcome, Outcome::allowed);
  EXPECT_EQ(remaining(charge("b", five, 0), kStart), 2u);
}

TEST_P(StoreConformance, AllOrNothingChargesAllWhereAllFit) {
  const algorithm::Limit two = window(2, 60), five = gcra(5, 60, 5);
  const auto decisions =
      submit({{.mode = GroupMode::all_or_nothing, .charges = {charge("a", two, 2), charge("b", five, 2)}}}, kStart);
  EXPECT_TRUE(decisions[0].charged);
  EXPECT_TRUE(decisions[1].charged);
  EXPECT_EQ(decisions[0].remaining, 0u);
  EXPECT_EQ(decisions[1].remaining, 3u);
}

TEST_P(StoreConformance, AllOrNothingChargesNothingWhereOneIsRefusedAndSaysWhatEachWouldGet) {
  const algorithm::Limit two = window(2, 60), five = gcra(5, 60, 5);
  EXPECT_EQ(decide(charge("a", two, 1), kStart).outcome, Outcome::allowed);
  const auto decisions =
      submit({{.mode = GroupMode::all_or_nothing, .charges = {charge("b", five, 2), charge("a", two, 2)}}}, kStart);
  EXPECT_EQ(decisions[0].outcome, Outcome::allowed);
  EXPECT_FALSE(decisions[0].charged);
  EXPECT_EQ(decisions[0].remaining, 5u);
  EXPECT_EQ(decisions[0].reset_after, Nanoseconds{0});
  EXPECT_EQ(decisions[1].outcome, Outcome::denied);
  EXPECT_FALSE(decisions[1].charged);
  EXPECT_EQ(decisions[1].remaining, 1u);
  EXPECT_GT(decisions[1].retry_after, Nanoseconds{0});
  EXPECT_EQ(remaining(charge("b", five, 0), kStart), 5u);
  EXPECT_EQ(remaining(charge("a", two, 0), kStart), 1u);
}

TEST_P(StoreConformance, AllOrNothingDoesNotCountRefusedCostEvenWhereTheLimitWould) {
  const algorithm::Limit counting = window(2, 60, true);
  for (const std::size_t size : {1u, 2u}) {
    const std::vector<Charge> both = {charge("a", counting, 3), charge("b", counting, 1)};
    const auto decisions = submit(
        {{.mode = GroupMode::all_or_nothing, .charges = {both.begin(), both.begin() + std::ptrdiff_t(size)}}}, kStart);
    EXPECT_EQ(decisions[0].outcome, Outcome::never) << size;
    EXPECT_FALSE(decisions[0].charged) << size;
  }
  EXPECT_EQ(remaining(charge("a", counting, 0), kStart), 2u);
  EXPECT_EQ(remaining(charge("b", counting, 0), kStart), 2u);
}

TEST_P(StoreConformance, SpareOthersChargesAllWhereAllFit) {
  const algorithm::Limit two = window(2, 60, true), five = window(5, 60, true);
  submit({{.mode = GroupMode::spare_others, .charges = {charge("a", two, 2), charge("b", five, 2)}}}, kStart);
  EXPECT_EQ(remaining(charge("a", two, 0), kStart), 0u);
  EXPECT_EQ(remaining(charge("b", five, 0), kStart), 3u);
}

TEST_P(StoreConformance, SpareOthersChargesOnlyTheRefusedWhereSomeAreRefused) {
  const algorithm::Limit two = window(2, 60, true), five = window(5, 60, true);
  const auto decisions =
      submit({{.mode = GroupMode::spare_others, .charges = {charge("b", five, 3), charge("a", two, 3)}}}, kStart);
  EXPECT_EQ(decisions[0].outcome, Outcome::allowed);
  EXPECT_FALSE(decisions[0].charged);
  EXPECT_EQ(decisions[0].remaining, 5u);
  EXPECT_EQ(decisions[1].outcome, Outcome::never);
  EXPECT_TRUE(decisions[1].charged);
  EXPECT_EQ(remaining(charge("b", five, 0), kStart), 5u);
  EXPECT_EQ(decide(charge("a", two, 1), kStart).count_before, 3u);
}

TEST_P(StoreConformance, RefusedAloneChargesOnlyThoseThatWouldBeRefusedIfTheyCameAlone) {
  const algorithm::Limit two = window(2, 60, true), five = window(5, 60, true);
  const auto decisions =
      submit({{.mode = GroupMode::refused_alone, .charges = {charge("b", five, 3), charge("a", two, 3)}}}, kStart);
  EXPECT_EQ(decisions[0].outcome, Outcome::allowed);
  EXPECT_FALSE(decisions[0].charged);
  EXPECT_EQ(decisions[0].remaining, 5u);
  EXPECT_EQ(decisions[1].outcome, Outcome::never);
  EXPECT_TRUE(decisions[1].charged);
  EXPECT_EQ(decide(charge("a", two, 1), kStart).count_before, 3u);
}

TEST_P(StoreConformance, RefusedAloneChargesEachWhereNoneIsRefusedAlone) {
  const algorithm::Limit two = window(2, 60, true), five = window(5, 60, true);
  const GroupOf group = {.mode = GroupMode::refused_alone,
                         .charges = {charge("a", two, 2), charge("a", two, 1), charge("b", five, 1)}};
  const auto decisions = submit({group}, kStart);
  EXPECT_EQ(decisions[0].outcome, Outcome::allowed);
  EXPECT_EQ(decisions[1].outcome, Outcome::denied) << "the first one left no room";
  EXPECT_TRUE(decisions[1].charged);
  EXPECT_TRUE(decisions[2].charged);
  const auto again = submit({group}, kStart);
  EXPECT_FALSE(again[2].charged) << "now two are refused alone";
  EXPECT_EQ(decide(charge("a", two, 0), kStart).count_before, 6u);
}

TEST_P(StoreConformance, ObserversNeverVetoAndAreChargedOnlyIfTheGroupPasses) {
  const algorithm::Limit one = gcra(1, 60, 1), five = gcra(5, 60, 5);
  for (const GroupMode mode : {GroupMode::all_or_nothing, GroupMode::spare_others}) {
    const std::string suffix = std::to_string(static_cast<int>(mode));
    const std::string a = "a" + suffix, b = "b" + suffix, shadow = "s" + suffix;
    const auto passing = submit(
        {{.mode = mode, .charges = {observing(charge(shadow.c_str(), one, 2)), charge(a.c_str(), five, 2)}}}, kStart);
    EXPECT_EQ(passing[0].outcome, Outcome::never) << suffix;
    EXPECT_TRUE(passing[1].charged) << suffix;

    const auto refused = submit({{.mode = mode,
                                  .charges = {observing(charge(shadow.c_str(), one, 1)), charge(a.c_str(), five, 1),
                                              charge(b.c_str(), one, 2)}}},
                                kStart);
    EXPECT_EQ(refused[0].outcome, Outcome::allowed) << suffix;
    EXPECT_FALSE(refused[0].charged) << suffix;
    EXPECT_FALSE(refused[1].charged) << suffix;
    EXPECT_EQ(remaining(charge(shadow.c_str(), one, 0), kStart), 1u) << suffix;
    EXPECT_EQ(remaining(charge(a.c_str(), five, 0), kStart), 3u) << suffix;
  }
}

TEST_P(StoreConformance, ObserverCannotVetoThroughACounterThatItShares) {
  const algorithm::Limit five = gcra(5, 60, 5);
  const auto decisions =
      submit({{.mode = GroupMode::all_or_nothing,
               .charges = {observing(charge("a", five, 3)), charge("a", five, 4), charge("b", five, 1)}}},
             kStart);
  EXPECT_EQ(decisions[0].outcome, Outcome::denied);
  EXPECT_TRUE(decisions[1].charged);
  EXPECT_TRUE(decisions[2].charged);
}

TEST_P(StoreConformance, ChargesOnOneCounterInOneGroupSeeEachOther) {
  const algorithm::Limit limits[] = {window(5, 60), gcra(5, 60, 5), sliding_log(5, 60)};
  for (const algorithm::Limit& limit : limits) {
    for (const GroupMode mode :
         {GroupMode::each, GroupMode::all_or_nothing, GroupMode::spare_others, GroupMode::refused_alone}) {
      const std::string name =
          std::string{algorithm::to_string(limit.algorithm())} + std::to_string(static_cast<int>(mode));
      const Charge two = charge(name.c_str(), limit, 2);
      const auto passing = submit({{.mode = mode, .charges = {two, two}}}, kStart);
      EXPECT_EQ(passing[0].remaining, 3u) << name;
      EXPECT_EQ(passing[1].remaining, 1u) << name;
    }
  }
}

TEST_P(StoreConformance, GroupThatFailsOnlyTogetherIsRefusedAndNamesTheWaitForBoth) {
  const algorithm::Limit limit = gcra(5, 5, 5);  // one a second
  const Charge two = charge("k", limit, 2), three = charge("k", limit, 3);
  EXPECT_EQ(decide(two, kStart).outcome, Outcome::allowed);
  const GroupOf both = {.mode = GroupMode::all_or_nothing, .charges = {two, three}};
  const auto refused = submit({both}, kStart);
  EXPECT_EQ(refused[0].outcome, Outcome::allowed);
  EXPECT_EQ(refused[1].outcome, Outcome::denied);
  EXPECT_EQ(refused[1].remaining, 3u);
  EXPECT_EQ(refused[1].retry_after, seconds{2});
  EXPECT_FALSE(refused[0].charged || refused[1].charged);
  EXPECT_FALSE(submit({both}, kStart + seconds{2} - tick())[1].charged);
  EXPECT_TRUE(submit({both}, kStart + seconds{2})[1].charged);
}

TEST_P(StoreConformance, GroupThatCannotFitTogetherIsNever) {
  const algorithm::Limit limit = gcra(5, 5, 5);
  const Charge three = charge("k", limit, 3);
  const auto refused = submit({{.mode = GroupMode::all_or_nothing, .charges = {three, three}}}, kStart);
  EXPECT_EQ(refused[0].outcome, Outcome::allowed);
  EXPECT_EQ(refused[1].outcome, Outcome::never);
}

TEST_P(StoreConformance, GroupTakesAsManyChargesAsItMay) {
  const algorithm::Limit limit = gcra(1, 60, 1);
  std::vector<std::string> names;
  GroupOf group = {.mode = GroupMode::all_or_nothing, .charges = {}};
  for (std::uint32_t i = 0; i < Group::kMaxCharges; ++i) {
    group.charges.push_back(charge(names.emplace_back("k" + std::to_string(i)).c_str(), limit, 1));
  }
  for (const Decision& decision : submit({group}, kStart)) EXPECT_TRUE(decision.charged);
  for (const Decision& decision : submit({group}, kStart)) EXPECT_EQ(decision.outcome, Outcome::denied);
}

TEST_P(StoreConformance, RefundDebitAndLookOfAGroupApplyToEveryCharge) {
  const algorithm::Limit a = window(5, 60), b = gcra(5, 60, 5);
  for (const GroupMode mode :
       {GroupMode::each, GroupMode::all_or_nothing, GroupMode::spare_others, GroupMode::refused_alone}) {
    const std::string names[] = {"a" + std::to_string(static_cast<int>(mode)),
                                 "b" + std::to_string(static_cast<int>(mode))};
    GroupOf group = {.mode = mode, .charges = {charge(names[0].c_str(), a, 4), charge(names[1].c_str(), b, 4)}};
    for (const auto& [verb, left] :
         {std::pair{Verb::look, 5u}, {Verb::debit, 1u}, {Verb::look, 1u}, {Verb::refund, 5u}}) {
      group.verb = verb;
      const auto decisions = submit({group}, kStart);
      EXPECT_EQ(decisions[0].remaining, left) << static_cast<int>(verb);
      EXPECT_EQ(decisions[1].remaining, left) << static_cast<int>(verb);
    }
  }
}

TEST_P(StoreConformance, BatchOfManyGroupsDecidesAsTheyWouldOneByOne) {
  const algorithm::Limit limit = gcra(10, 60, 10);
  const auto groups_on = [&](const std::string& prefix, std::vector<std::string>& names) {
    names.reserve(64);
    std::vector<GroupOf> groups;
    for (std::size_t i = 0; i < 64; ++i) {
      names.push_back(prefix + std::to_string(i % 5));
      groups.push_back({.charges = {charge(names.back().c_str(), limit, i % 3)}});
    }
    return groups;
  };
  std::vector<std::string> names, other_names;
  const auto together = submit(groups_on("a", names), kStart);
  std::size_t at = 0;
  for (const GroupOf& group : groups_on("b", other_names)) {
    const Decision alone = submit({group}, kStart).front();
    EXPECT_EQ(together[at], alone) << at << ": " << describe(together[at]) << "\n" << describe(alone);
    ++at;
  }
}

TEST_P(StoreConformance, AnswersBelongToTheirGroups) {
  const algorithm::Limit limit = gcra(100, 60, 100);
  std::vector<std::string> names;
  names.reserve(40);
  std::vector<GroupOf> groups;
  for (std::size_t i = 0; i < 40; ++i) {
    names.push_back("k" + std::to_string(i));
    groups.push_back({.charges = {charge(names.back().c_str(), limit, i + 1)}});
  }
  const auto decisions = submit(groups, kStart);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(decisions[i].remaining, 99 - i);
}

}  // namespace penstock::store::testing
