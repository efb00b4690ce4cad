// Groups whose charges are in several stores, or in several parts of one.

#include "penstock/store/tiered_store.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/store/memory/memory_store.h"
#include "penstock/store/testing/conformance.h"
#include "penstock/store/testing/faulty_store.h"
#include "penstock/store/testing/ledger.h"

namespace penstock::store {
namespace {

using algorithm::Cause;
using algorithm::Decision;
using algorithm::Limit;
using algorithm::Outcome;
using algorithm::Verb;
using testing::charge;
using testing::Fault;
using testing::FaultyStore;
using testing::gcra;
using testing::GroupOf;
using testing::kStart;
using testing::Ledger;
using testing::observing;
using testing::window;

constexpr std::uint8_t kNode = TieredStore::kNode, kShared = 1, kOther = 2;

// A store in two parts: even and odd counters.
class PartedStore final : public Store {
 public:
  explicit PartedStore(Store& behind) : behind_{behind} {}
  void submit(const Batch& batch, Instant now, LateDecisions& late) override {
    std::size_t next = 0;
    for (const Group& group : batch.groups) {
      for (std::size_t i = 1; i < group.charge_count && group.mode != GroupMode::each; ++i) {
        EXPECT_EQ(part_of(batch.charges[next + i]), part_of(batch.charges[next])) << "a group of two parts";
      }
      next += group.charge_count;
    }
    behind_.submit(batch, now, late);
  }
  [[nodiscard]] std::uint32_t part_of(const Charge& charge) const override { return charge.counter.low & 1; }

 private:
  Store& behind_;
};

class TieredStoreTest : public ::testing::Test {
 protected:
  static Charge in(std::uint8_t store, Charge charge) {
    charge.store = store;
    return charge;
  }
  std::vector<Decision> submit(const GroupOf& group) {
    const std::size_t batch = ledger_.submit(std::vector{group}, kStart);
    while (late_.delayed() > 0) late_.answer(0);
    EXPECT_EQ(ledger_.pending(), 0u);
    EXPECT_EQ(ledger_.wrong_answers(), 0u);
    return {ledger_.decisions(batch).begin(), ledger_.decisions(batch).end()};
  }
  std::uint32_t remaining(const Charge& one) {
    Charge look = one;
    look.cost = 0;
    return submit({.charges = {look}, .verb = Verb::look}).front().remaining;
  }
  // Two counters of the name that are in different parts.
  static std::pair<std::string, std::string> in_both_parts() {
    std::string even, odd;
    for (int i = 0; even.empty() || odd.empty(); ++i) {
      const std::string name = "part" + std::to_string(i);
      ((testing::counter_named(name).low & 1) == 0 ? even : odd) = name;
    }
    return {even, odd};
  }

  static std::shared_ptr<Table> table() { return {Table::create({.capacity_keys = 1000}).value()}; }

  const Limit five_ = gcra(5, 60, 5), one_ = gcra(1, 60, 1), counting_ = window(2, 60, true);
  MemoryStore node_{table()}, shared_{table()}, other_{table()};
  FaultyStore late_{shared_, {}, Fault::delay};
  PartedStore parted_{late_};
  std::vector<Store*> stores_{&parted_, &other_};
  TieredStore tiered_{node_, stores_};
  Ledger ledger_{tiered_};
};

TEST_F(TieredStoreTest, EachChargeGoesToItsStore) {
  const auto decisions = submit({.charges = {in(kNode, charge("k", one_, 1))}});
  EXPECT_TRUE(decisions.front().charged);
  EXPECT_EQ(submit({.charges = {in(kShared, charge("k", one_, 1))}}).front().outcome, Outcome::allowed);
  EXPECT_EQ(submit({.charges = {in(kOther, charge("k", one_, 1))}}).front().outcome, Outcome::allowed);
  for (const std::uint8_t store : {kNode, kShared, kOther}) {
    EXPECT_EQ(submit({.charges = {in(store, charge("k", one_, 1))}}).front().outcome, Outcome::denied);
  }
  EXPECT_EQ(tiered_.divided().value(), 0u);
}

TEST_F(TieredStoreTest, GroupOverNodeAndStoreIsChargedAllOrNone) {
  const Charge local = in(kNode, charge("local", five_, 1)), global = in(kShared, charge("global", one_, 1));
  const GroupOf both = {.mode = GroupMode::all_or_nothing, .charges = {local, global}};
  for (const Decision& each : submit(both)) EXPECT_TRUE(each.charged);
  const auto refused = submit(both);
  EXPECT_EQ(refused[0].outcome, Outcome::allowed);
  EXPECT_FALSE(refused[0].charged);
  EXPECT_EQ(refused[0].remaining, 4u);
  EXPECT_EQ(refused[1].outcome, Outcome::denied);
  EXPECT_EQ(remaining(local), 4u) << "what the node charged was given back";
  EXPECT_EQ(tiered_.given_back().value(), 1u);
}

TEST_F(TieredStoreTest, WhereTheNodeRefusesTheStoreIsNotAsked) {
  const Charge local = in(kNode, charge("local", one_, 1)), global = in(kShared, charge("global", five_, 1));
  const GroupOf both = {.mode = GroupMode::all_or_nothing, .charges = {global, local}};
  submit(both);
  const std::size_t batch = ledger_.submit(std::vector{both}, kStart);
  EXPECT_EQ(late_.delayed(), 0u);
  EXPECT_EQ(ledger_.decisions(batch)[1].outcome, Outcome::denied);
  EXPECT_EQ(ledger_.decisions(batch)[0].outcome, Outcome::allowed);
  EXPECT_EQ(remaining(global), 4u);
}

TEST_F(TieredStoreTest, GroupOverTwoPartsOfAStoreIsChargedAllOrNone) {
  const auto [even, odd] = in_both_parts();
  const Charge many = in(kShared, charge(even.c_str(), five_, 2)), few = in(kShared, charge(odd.c_str(), one_, 1));
  const GroupOf both = {.mode = GroupMode::all_or_nothing, .charges = {many, few}};
  for (const Decision& each : submit(both)) EXPECT_TRUE(each.charged);
  const auto refused = submit(both);
  EXPECT_FALSE(refused[0].charged || refused[1].charged);
  EXPECT_EQ(remaining(many), 3u);
  EXPECT_EQ(tiered_.divided().value(), 2u);
}

TEST_F(TieredStoreTest, ObserversNeverVetoAndAreGivenBackToo) {
  const auto [even, odd] = in_both_parts();
  const Charge shadow = in(kShared, observing(charge(even.c_str(), one_, 1))),
               member = in(kShared, charge(odd.c_str(), five_, 3));
  const GroupOf both = {.mode = GroupMode::all_or_nothing, .charges = {shadow, member}};
  submit(both);
  const auto refused = submit(both);
  EXPECT_EQ(refused[1].outcome, Outcome::denied);
  const GroupOf alone = {.mode = GroupMode::all_or_nothing, .charges = {shadow, in(kNode, charge("n", five_, 1))}};
  EXPECT_TRUE(submit(alone)[1].charged) << "though the shadow is over";
}

TEST_F(TieredStoreTest, RefusedAloneLooksEverywhereAndThenChargesWhatIsOver) {
  const auto [even, odd] = in_both_parts();
  const Charge a = in(kShared, charge(even.c_str(), counting_, 1)), b = in(kShared, charge(odd.c_str(), counting_, 2)),
               c = in(kOther, charge("c", counting_, 1));
  const GroupOf all = {.mode = GroupMode::refused_alone, .charges = {a, b, c}};
  for (const Decision& each : submit(all)) EXPECT_TRUE(each.charged);
  const auto refused = submit(all);
  EXPECT_FALSE(refused[0].charged);
  EXPECT_TRUE(refused[1].charged) << "it alone is over, and counts on";
  EXPECT_FALSE(refused[2].charged);
  EXPECT_EQ(remaining(a), 1u);
  EXPECT_EQ(remaining(c), 1u);
}

TEST_F(TieredStoreTest, PartThatDoesNotAnswerMakesTheOthersGiveBack) {
  FaultyStore dead{shared_, {}, Fault::refuse};
  std::vector<Store*> stores{&dead, &other_};
  TieredStore tiered{node_, stores};
  Ledger ledger{tiered};
  const Charge there = in(kOther, charge("there", five_, 1));
  const GroupOf both = {.mode = GroupMode::all_or_nothing,
                        .charges = {in(kNode, charge("here", five_, 1)), there, in(kShared, charge("x", five_, 1))}};
  const std::size_t batch = ledger.submit(std::vector{both}, kStart);
  EXPECT_EQ(ledger.decisions(batch)[2].outcome, Outcome::unanswered);
  EXPECT_EQ(ledger.decisions(batch)[2].cause, Cause::timeout);
  EXPECT_EQ(remaining(there), 5u);
  EXPECT_EQ(remaining(in(kNode, charge("here", five_, 1))), 5u);
}

TEST_F(TieredStoreTest, WhatIsGivenBackAfterItsWindowsEndIsNotTakenFromTheNext) {
  const auto [even, odd] = in_both_parts();
  const Limit ten = window(10, 60);
  const Charge counted = in(kShared, charge(even.c_str(), ten, 5)), full = in(kShared, charge(odd.c_str(), one_, 1));
  submit({.charges = {full}});
  const Instant end = kStart + std::chrono::seconds{53};
  ledger_.submit(std::vector{GroupOf{.mode = GroupMode::all_or_nothing, .charges = {counted, full}}},
                 end - std::chrono::milliseconds{1});
  const std::size_t next = ledger_.submit(std::vector{GroupOf{.charges = {counted}}}, end);
  while (late_.delayed() > 0) late_.answer(late_.delayed() - 1);
  EXPECT_EQ(ledger_.decisions(next).front().remaining, 5u);
  const std::size_t look = ledger_.submit(
      std::vector{GroupOf{.charges = {in(kShared, charge(even.c_str(), ten, 0))}, .verb = Verb::look}}, end);
  late_.answer_all();
  EXPECT_EQ(ledger_.decisions(look).front().remaining, 5u) << "what the next window counted is still counted";
}

TEST_F(TieredStoreTest, RefundsAndDebitsOfAGroupReachEveryStore) {
  const std::vector<Charge> charges = {in(kNode, charge("a", five_, 3)), in(kShared, charge("b", five_, 3)),
                                       in(kOther, charge("c", five_, 3))};
  submit({.mode = GroupMode::all_or_nothing, .charges = charges, .verb = Verb::debit});
  for (const Charge& each : charges) EXPECT_EQ(remaining(each), 2u);
  submit({.mode = GroupMode::all_or_nothing, .charges = charges, .verb = Verb::refund});
  for (const Charge& each : charges) EXPECT_EQ(remaining(each), 5u);
}

TEST_F(TieredStoreTest, MoreDividedGroupsThanMayWaitAreOverloaded) {
  const auto [even, odd] = in_both_parts();
  const Limit plenty = gcra(1'000'000, 1, 1'000'000);
  std::vector<GroupOf> groups(3, {.mode = GroupMode::all_or_nothing,
                                  .charges = {in(kNode, charge("n", plenty, 1)), in(kShared, charge("s", plenty, 1))}});
  FaultyStore silent{shared_, {}, Fault::delay};
  std::vector<Store*> stores{&silent};
  TieredStore tiered{node_, stores};
  Ledger ledger{tiered};
  std::size_t answered = 0;
  for (std::size_t i = 0; i <= TieredStore::kMaxDivided; ++i) {
    const std::size_t batch = ledger.submit(std::vector{groups.front()}, kStart);
    answered += ledger.decisions(batch)[1].outcome == Outcome::unanswered ? 1 : 0;
  }
  EXPECT_GE(answered, 1u);
  while (silent.delayed() > 0) silent.answer(0);
  EXPECT_EQ(ledger.pending(), 0u);
}

}  // namespace
}  // namespace penstock::store
