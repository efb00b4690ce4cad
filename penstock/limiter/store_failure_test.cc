// What limits answer when their store does not, and which store they have.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/limiter/limiter.h"
#include "penstock/limiter/placement.h"
#include "penstock/store/testing/model_store.h"

namespace penstock::limiter {
namespace {

using algorithm::Cause;
using algorithm::Decision;
using algorithm::Outcome;
using rules::OnStoreFailure;

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

constexpr const char* kRules = R"(
domain: d
descriptors:
  - {key: silent, rate_limit: {unit: day, requests_per_unit: 8}}
  - {key: error, rate_limit: {unit: day, requests_per_unit: 8, on_store_failure: error}}
  - {key: allow, rate_limit: {unit: day, requests_per_unit: 8, on_store_failure: allow}}
  - {key: deny, rate_limit: {unit: day, requests_per_unit: 8, on_store_failure: deny}}
  - {key: local, rate_limit: {unit: day, requests_per_unit: 8, on_store_failure: local}}
  - {key: node, rate_limit: {unit: day, requests_per_unit: 1, tier: local}}
  - {key: shadow, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 8, on_store_failure: deny}}
  - key: list
    rate_limits:
      - {unit: day, requests_per_unit: 8, on_store_failure: allow}
      - {unit: day, requests_per_unit: 1, algorithm: gcra, tier: local}
)";

// Keeps charges of store 0 itself, and gives no answer for others.
class HalfDeadStore final : public store::Store {
 public:
  void submit(const store::Batch& batch, Instant now, store::LateDecisions& late) override {
    std::size_t next = 0;
    for (const store::Group& group : batch.groups) {
      const auto charges = batch.charges.subspan(next, group.charge_count);
      const auto decisions = batch.decisions.subspan(next, group.charge_count);
      next += group.charge_count;
      for (std::size_t i = 0; i < charges.size(); ++i) {
        if (charges[i].store != 0) {
          stores.push_back(charges[i].store);
          decisions[i] = {.outcome = Outcome::unanswered, .cause = cause};
          continue;
        }
        const store::Group one = {.charge_count = 1, .verb = group.verb, .ticket = {}};
        node_.submit({.groups = {&one, 1}, .charges = {&charges[i], 1}, .decisions = {&decisions[i], 1}}, now, late);
      }
    }
  }

  Cause cause = Cause::timeout;
  std::vector<std::uint8_t> stores;

 private:
  store::testing::ModelStore node_;
};

struct Kept {
  bool error = false;
  Code overall = Code::ok;
  std::vector<Status> statuses;
};

class KeepVerdict final : public VerdictSink {
 public:
  void on_verdict(std::uint64_t, const Verdict& verdict) override {
    last = {.error = verdict.error != nullptr,
            .overall = verdict.overall,
            .statuses = {verdict.statuses.begin(), verdict.statuses.end()}};
  }
  Kept last;
};

std::shared_ptr<const rules::RuleSet> rules_in(const std::string& text) {
  const std::array sources{rules::Source{.name = "rules.yaml", .text = text}};
  const auto loaded = rules::load(sources, {});
  EXPECT_TRUE(loaded.has_value());
  return loaded ? loaded->rules : nullptr;
}

class StoreFailureTest : public ::testing::Test {
 protected:
  explicit StoreFailureTest(const PlacementOptions& placement = {.stores = {.common = 1, .per_second = 1, .named = {}}})
      : limiter_{store_, {.placement = placement}} {
    limiter_.use_rules(rules_in(kRules));
  }

  Kept ask(const std::vector<std::string>& keys, bool negative = false) {
    std::vector<rules::Entry> entries;
    for (const std::string& key : keys) entries.push_back({.key = key, .value = "x"});
    std::vector<Descriptor> descriptors;
    for (const rules::Entry& entry : entries) {
      descriptors.push_back({.entries = {&entry, 1}, .limit = {}, .hits = {}, .negative_hits = negative});
    }
    const Check check{.domain = "d", .descriptors = descriptors};
    limiter_.decide({&check, 1}, kNow, sink_);
    return sink_.last;
  }
  std::uint64_t degraded(Cause cause, OnStoreFailure policy) {
    const auto& counts = limiter_.statistics().degraded.decisions;
    return counts[static_cast<std::size_t>(cause)][static_cast<std::size_t>(policy)].value();
  }

  HalfDeadStore store_;
  Limiter limiter_;
  KeepVerdict sink_;
};

TEST_F(StoreFailureTest, EachLimitAnswersAsItsRuleSaysAndIsCountedByCauseAndPolicy) {
  EXPECT_TRUE(ask({"silent"}).error);
  EXPECT_TRUE(ask({"error"}).error);
  EXPECT_EQ(degraded(Cause::timeout, OnStoreFailure::error), 2u);

  store_.cause = Cause::breaker;
  const Kept allowed = ask({"allow"});
  EXPECT_EQ(allowed.overall, Code::ok);
  EXPECT_EQ(allowed.statuses[0].limit, nullptr) << "nothing is known of it";
  EXPECT_EQ(allowed.statuses[0].degraded, OnStoreFailure::allow);
  EXPECT_EQ(degraded(Cause::breaker, OnStoreFailure::allow), 1u);

  store_.cause = Cause::readonly;
  const Kept denied = ask({"deny"});
  EXPECT_EQ(denied.overall, Code::over_limit);
  EXPECT_EQ(denied.statuses[0].limit, nullptr);
  EXPECT_EQ(denied.statuses[0].decision.cause, Cause::readonly);
  EXPECT_EQ(degraded(Cause::readonly, OnStoreFailure::deny), 1u);
}

TEST_F(StoreFailureTest, LocalCountsInThisNode) {
  for (const std::uint32_t left : {7u, 6u, 5u, 4u, 3u, 2u, 1u, 0u}) {
    const Kept kept = ask({"local"});
    EXPECT_EQ(kept.overall, Code::ok);
    ASSERT_NE(kept.statuses[0].limit, nullptr);
    EXPECT_EQ(kept.statuses[0].remaining, left);
    EXPECT_EQ(kept.statuses[0].degraded, OnStoreFailure::local);
  }
  EXPECT_EQ(ask({"local"}).overall, Code::over_limit);
}

TEST_F(StoreFailureTest, OverLimitComesBeforeAnErrorAndAnErrorBeforeLettingPass) {
  ask({"node"});
  EXPECT_EQ(ask({"error", "node"}).overall, Code::over_limit);
  EXPECT_FALSE(ask({"error", "deny"}).error);
  EXPECT_EQ(ask({"error", "deny"}).overall, Code::over_limit);
  EXPECT_TRUE(ask({"allow", "error"}).error);
  EXPECT_TRUE(ask({"local", "error"}).error);
  EXPECT_EQ(ask({"allow", "local"}).overall, Code::ok);
}

TEST_F(StoreFailureTest, TierLocalNeedsNoStore) {
  EXPECT_EQ(ask({"node"}).overall, Code::ok);
  EXPECT_EQ(ask({"node"}).overall, Code::over_limit);
  EXPECT_TRUE(store_.stores.empty());
}

TEST_F(StoreFailureTest, ShadowRuleRefusesNothingWhateverItsPolicy) { EXPECT_EQ(ask({"shadow"}).overall, Code::ok); }

TEST_F(StoreFailureTest, ListHoldsWhatIsKnownOfItsLimits) {
  EXPECT_EQ(ask({"list"}).overall, Code::ok);
  const Kept refused = ask({"list"});
  EXPECT_EQ(refused.overall, Code::over_limit) << "by the limit of this node";
  ASSERT_NE(refused.statuses[0].limit, nullptr);
  EXPECT_EQ(refused.statuses[0].limit->requests_per_unit, 1u);
}

TEST_F(StoreFailureTest, WhatCannotBeGivenBackIsNoReasonToRefuse) {
  EXPECT_EQ(ask({"deny"}, true).overall, Code::ok);
  EXPECT_EQ(ask({"local"}, true).overall, Code::ok);
  EXPECT_TRUE(ask({"error"}, true).error);
}

class FleetTest : public StoreFailureTest {
 protected:
  FleetTest()
      : StoreFailureTest{{.stores = {.common = 1, .per_second = 2, .named = {{"big", 3}}},
                          .on_store_failure = OnStoreFailure::local,
                          .fleet_size = 4}} {}
};

TEST_F(FleetTest, NodeCountsItsShareOfALimit) {
  EXPECT_EQ(ask({"silent"}).statuses[0].remaining, 1u) << "two of eight";
  EXPECT_EQ(ask({"silent"}).overall, Code::ok);
  EXPECT_EQ(ask({"silent"}).overall, Code::over_limit);
}

TEST_F(FleetTest, LimitsGoToTheStoreThatTheirRuleOrUnitNames) {
  limiter_.use_rules(rules_in(R"(
domain: d
store: big
descriptors:
  - {key: plain, rate_limit: {unit: second, requests_per_unit: 8}}
)"));
  ask({"plain"});
  limiter_.use_rules(rules_in(R"(
domain: d
descriptors:
  - {key: second, rate_limit: {unit: second, requests_per_unit: 8}}
  - {key: minute, rate_limit: {unit: minute, requests_per_unit: 8}}
  - {key: named, rate_limit: {unit: second, requests_per_unit: 8, store: big}}
)"));
  ask({"second", "minute", "named"});
  EXPECT_EQ(store_.stores, (std::vector<std::uint8_t>{3, 2, 1, 3}));
}

TEST(Share, IsAPartOfAmountBurstAndPeakButNeverNothing) {
  const auto rules = rules_in(R"(
domain: d
descriptors:
  - key: k
    rate_limits:
      - {unit: minute, requests_per_unit: 10, algorithm: gcra, burst: 8, peak: {unit: second, requests_per_unit: 4, burst: 3}}
      - {unit: day, requests_per_unit: 3}
)");
  const auto& limits = rules->rules().front()->limits;
  const algorithm::Limit share = share_of(limits[0], 4);
  EXPECT_EQ(share.amount(), 2u);
  EXPECT_EQ(share.capacity(), 1u) << "the peak's burst";
  EXPECT_EQ(share_of(limits[1], 4).amount(), 1u);
  EXPECT_EQ(share_of(limits[1], 1), limits[1].limit);
}

}  // namespace
}  // namespace penstock::limiter
