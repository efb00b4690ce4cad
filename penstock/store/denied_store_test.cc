// The cache of refusals: what it may repeat, for how long, and what clears it.

#include "penstock/store/denied_store.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/store/memory/memory_store.h"
#include "penstock/store/testing/conformance.h"
#include "penstock/store/testing/faulty_store.h"
#include "penstock/store/testing/ledger.h"

namespace penstock::store {
namespace {

using algorithm::Decision;
using algorithm::Limit;
using algorithm::Outcome;
using algorithm::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::charge;
using testing::Fault;
using testing::FaultyStore;
using testing::gcra;
using testing::GroupOf;
using testing::kStart;
using testing::Ledger;
using testing::window;

// A node: a cache of its own before a store that others share.
class Node {
 public:
  explicit Node(Store& behind, const DeniedOptions& options = {}) : store_{behind, table_, options} {}

  Decision decide(const Charge& one, Instant now) { return apply({.charges = {one}}, now).front(); }
  Decision refund(const Charge& one, Instant now) {
    return apply({.charges = {one}, .verb = Verb::refund}, now).front();
  }
  std::vector<Decision> apply(const GroupOf& group, Instant now) {
    const std::size_t batch = ledger_.submit(std::vector{group}, now);
    return {ledger_.decisions(batch).begin(), ledger_.decisions(batch).end()};
  }
  std::size_t submit(const Charge& one, Instant now) {
    return ledger_.submit(std::vector{GroupOf{.charges = {one}}}, now);
  }
  Ledger& ledger() { return ledger_; }
  [[nodiscard]] std::uint64_t hits() const { return store_.hits().value(); }

 private:
  std::shared_ptr<DeniedTable> table_ = std::make_shared<DeniedTable>(64 * 1024);
  DeniedStore store_;
  Ledger ledger_{store_};
};

class DeniedStoreTest : public ::testing::Test {
 protected:
  MemoryStore shared_{std::shared_ptr<Table>{Table::create({.capacity_keys = 1000}).value()}};
  const Limit one_a_minute_ = gcra(1, 60, 1), five_ = gcra(5, 60, 5);
};

TEST_F(DeniedStoreTest, RefusalIsRepeatedWithoutAskingForAsLongAsItsWaitButASecondAtMost) {
  Node node{shared_};
  const Charge one = charge("k", one_a_minute_, 1);
  EXPECT_EQ(node.decide(one, kStart).outcome, Outcome::allowed);
  EXPECT_FALSE(node.decide(one, kStart).cached);
  const Decision again = node.decide(one, kStart + milliseconds{400});
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.outcome, Outcome::denied);
  EXPECT_FALSE(node.decide(one, kStart + seconds{1}).cached) << "asked again after a second";

  const Limit quick = gcra(10, 1, 1);
  const Charge soon = charge("soon", quick, 1);
  node.decide(soon, kStart);
  EXPECT_FALSE(node.decide(soon, kStart).cached);
  EXPECT_TRUE(node.decide(soon, kStart + milliseconds{99}).cached);
  EXPECT_EQ(node.decide(soon, kStart + milliseconds{100}).outcome, Outcome::allowed);
}

TEST_F(DeniedStoreTest, LessCostIsAskedForAndMoreIsRefused) {
  Node node{shared_};
  node.decide(charge("k", five_, 3), kStart);
  EXPECT_EQ(node.decide(charge("k", five_, 3), kStart).outcome, Outcome::denied);
  EXPECT_TRUE(node.decide(charge("k", five_, 4), kStart).cached);
  EXPECT_EQ(node.decide(charge("k", five_, 2), kStart).outcome, Outcome::allowed);
}

TEST_F(DeniedStoreTest, RaisedLimitIsAskedFor) {
  Node node{shared_};
  const Limit raised = gcra(6, 60, 6);
  node.decide(charge("k", five_, 5), kStart);
  node.decide(charge("k", five_, 1), kStart);
  EXPECT_TRUE(node.decide(charge("k", five_, 1), kStart).cached);
  EXPECT_FALSE(node.decide(charge("k", raised, 1), kStart).cached);
}

TEST_F(DeniedStoreTest, RefundThroughThisNodeShowsAtOnce) {
  Node node{shared_};
  const Charge one = charge("k", one_a_minute_, 1);
  node.decide(one, kStart);
  node.decide(one, kStart);
  node.refund(one, kStart);
  EXPECT_EQ(node.decide(one, kStart).outcome, Outcome::allowed);
}

TEST_F(DeniedStoreTest, RefusalThatWasAskedForBeforeARefundIsNotKept) {
  FaultyStore late{shared_, {Fault::none, Fault::delay}, Fault::none};
  Node node{late};
  const Charge one = charge("k", one_a_minute_, 1);
  node.decide(one, kStart);
  const std::size_t under_way = node.submit(one, kStart);
  node.refund(one, kStart);
  late.answer_all();
  EXPECT_EQ(node.ledger().decisions(under_way).front().outcome, Outcome::denied) << "as the store said";
  EXPECT_EQ(node.decide(one, kStart).outcome, Outcome::allowed);
}

TEST_F(DeniedStoreTest, RefundOnAnotherNodeShowsWithinTheStatedBound) {
  for (const Nanoseconds longest : {Nanoseconds{seconds{1}}, Nanoseconds{milliseconds{250}}}) {
    MemoryStore shared{std::shared_ptr<Table>{Table::create({.capacity_keys = 1000}).value()}};
    Node here{shared, {.longest = longest}}, there{shared, {.longest = longest}};
    const Charge one = charge("k", one_a_minute_, 1);
    here.decide(one, kStart);
    here.decide(one, kStart);
    there.refund(one, kStart);
    Nanoseconds observed{0};
    while (here.decide(one, kStart + observed).outcome != Outcome::allowed) observed += milliseconds{1};
    EXPECT_LE(observed, longest);
    EXPECT_GE(observed, longest - milliseconds{1}) << "the bound is met, not only kept";
  }
}

TEST_F(DeniedStoreTest, LimitsThatCountWhatTheyRefuseAreAlwaysAskedFor) {
  Node node{shared_};
  const Limit counting = Limit::create({.algorithm = algorithm::Algorithm::token_bucket,
                                        .amount = 1,
                                        .window_seconds = 60,
                                        .burst = 1,
                                        .count_refused = true})
                             .value();
  const Limit original = window(1, 60, true);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(node.decide(charge("b", counting, 1), kStart).cached);
    EXPECT_FALSE(node.decide(charge("w", original, 1), kStart).cached);
  }
}

TEST_F(DeniedStoreTest, OriginalWindowsAreKeptToTheirEndWhereThatIsAskedFor) {
  Node node{shared_, {.original_windows = true}};
  const Limit original = window(1, 60, true);
  const Charge one = charge("w", original, 1);
  node.decide(one, kStart);
  EXPECT_FALSE(node.decide(one, kStart).cached);
  EXPECT_TRUE(node.decide(charge("w", original, 0), kStart + seconds{52}).cached) << "whatever the cost";
  EXPECT_EQ(node.decide(one, kStart + seconds{53}).outcome, Outcome::allowed) << "the next window";
}

TEST_F(DeniedStoreTest, GroupIsRefusedByOneOfItsCharges) {
  Node node{shared_};
  const GroupOf both = {.mode = GroupMode::all_or_nothing,
                        .charges = {charge("few", one_a_minute_, 1), charge("many", five_, 1)}};
  node.apply(both, kStart);
  node.apply(both, kStart);
  const std::vector<Decision> refused = node.apply(both, kStart + milliseconds{1});
  EXPECT_TRUE(refused[0].cached);
  EXPECT_EQ(refused[1].outcome, Outcome::allowed);
  EXPECT_FALSE(refused[1].charged);
  EXPECT_EQ(node.hits(), 1u);
}

TEST_F(DeniedStoreTest, OfRefusedAloneWhatIsKnownIsRefusedAndTheRestLookedAt) {
  Node node{shared_, {.original_windows = true}};
  const Limit original = window(1, 60, true), ten = window(10, 60, true);
  const Charge over = charge("over", original, 1), other = charge("other", ten, 1);
  node.decide(over, kStart);
  node.decide(over, kStart);
  const auto decisions = node.apply({.mode = GroupMode::refused_alone, .charges = {other, over}}, kStart);
  EXPECT_FALSE(decisions[0].charged);
  EXPECT_EQ(decisions[0].remaining, 10u);
  EXPECT_TRUE(decisions[1].cached);
}

TEST(DeniedTable, WhatFindsNoRoomTakesThePlaceOfWhatEndsFirst) {
  DeniedTable table{1};  // one bucket
  const auto denial = [](int wait) { return Denial{.limit = 1, .cost = 1, .until = kStart + seconds{wait}}; };
  for (std::uint64_t i = 1; i <= 6; ++i) {
    table.keep({.low = i, .high = i}, denial(static_cast<int>(i)), kStart, table.read({.low = i, .high = i}));
  }
  for (std::uint64_t i = 1; i <= 6; ++i) {
    EXPECT_EQ(table.find({.low = i, .high = i}, 1, 1, kStart).has_value(), i > 2) << i;
  }
  table.clear_all();
  EXPECT_FALSE(table.find({.low = 6, .high = 6}, 1, 1, kStart));
}

}  // namespace
}  // namespace penstock::store
