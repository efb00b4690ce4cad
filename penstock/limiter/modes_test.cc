// Shadow and quota mode for all rules, as envoyproxy/ratelimit has them in SHADOW_MODE and QUOTA_MODE.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/limiter/testing/limiter_test_base.h"

namespace penstock::limiter {
namespace {

using testing::Asked;
using testing::Kept;
using testing::LimiterTest;

constexpr const char* kRules = R"(
domain: d
descriptors:
  - key: full
    rate_limit: {unit: day, requests_per_unit: 0}
  - key: wide
    rate_limit: {unit: day, requests_per_unit: 9}
  - key: quota_full
    quota_mode: true
    rate_limit: {unit: day, requests_per_unit: 0}
  - key: shadow_full
    shadow_mode: true
    rate_limit: {unit: day, requests_per_unit: 0}
  - key: both_full
    shadow_mode: true
    quota_mode: true
    rate_limit: {unit: day, requests_per_unit: 0}
  - key: free
    rate_limit: {unlimited: true}
  - key: named
    rate_limit: {name: n, unit: day, requests_per_unit: 0}
  - key: replacer
    rate_limit: {unit: day, requests_per_unit: 9, replaces: [{name: n}]}
)";

std::vector<Asked> descriptors(const std::vector<std::string_view>& keys) {
  std::vector<Asked> asked;
  for (const std::string_view key : keys) asked.push_back({.entries = {{key, "x"}}});
  return asked;
}

struct Row {
  std::vector<std::string_view> keys;
  Code overall;
  std::optional<std::size_t> deciding;
};

class GlobalQuota : public LimiterTest {
 protected:
  GlobalQuota() : LimiterTest{{}, {.counter_key = {1, 2}, .quota_mode = true}} { use(kRules); }
};

TEST_F(GlobalQuota, RefusesOnlyWhereEveryDescriptorButUnlimitedOnesIsOver) {
  const std::vector<Row> table = {
      {{"full"}, Code::over_limit, 0},
      {{"full", "full"}, Code::over_limit, 0},
      {{"full", "wide"}, Code::ok, 0},
      {{"wide", "full"}, Code::ok, 1},
      {{"full", "nothing"}, Code::ok, 0},
      {{"full", "free"}, Code::over_limit, 0},
      {{"full", "shadow_full"}, Code::ok, 0},
      {{"full", "both_full"}, Code::ok, 0},
      {{"full", "quota_full"}, Code::over_limit, 0},
      {{"full", "named", "replacer"}, Code::ok, 0},
      {{"nothing"}, Code::ok, std::nullopt},
      {{"free"}, Code::ok, std::nullopt},
  };
  for (const Row& row : table) {
    const Kept kept = ask(descriptors(row.keys));
    EXPECT_EQ(kept.overall, row.overall) << row.keys.front() << " and " << row.keys.back();
    EXPECT_EQ(kept.deciding, row.deciding) << row.keys.front() << " and " << row.keys.back();
  }
}

TEST_F(GlobalQuota, HoldsForOverridesToo) {
  const Asked override_of_none = {.entries = {{"full", "x"}}, .limit = Override{0, 4}};
  EXPECT_EQ(ask({override_of_none}).overall, Code::over_limit);
  EXPECT_EQ(ask({override_of_none, {.entries = {{"wide", "x"}}}}).overall, Code::ok);
}

TEST_F(LimiterTest, QuotaModeOfRulesIsNotPassedByWhatNothingLimits) {
  use(kRules);
  const std::vector<Row> table = {
      {{"full", "quota_full"}, Code::over_limit, 0},    {{"wide", "quota_full"}, Code::over_limit, 1},
      {{"quota_full", "nothing"}, Code::over_limit, 0}, {{"quota_full", "free"}, Code::over_limit, 0},
      {{"quota_full", "both_full"}, Code::ok, 0},       {{"both_full"}, Code::ok, 0},
      {{"full", "wide", "full"}, Code::over_limit, 2},
  };
  for (const Row& row : table) {
    const Kept kept = ask(descriptors(row.keys));
    EXPECT_EQ(kept.overall, row.overall) << row.keys.front() << " and " << row.keys.back();
    EXPECT_EQ(kept.deciding, row.deciding) << row.keys.front() << " and " << row.keys.back();
  }
}

class GlobalShadow : public LimiterTest {
 protected:
  GlobalShadow() : LimiterTest{{}, {.counter_key = {1, 2}, .shadow_mode = true}} { use(kRules); }
};

TEST_F(GlobalShadow, RefusesNothingAsAWholeAndCountsWhatItWouldHave) {
  const Kept kept = ask(descriptors({"wide", "full"}));
  EXPECT_EQ(kept.overall, Code::ok);
  EXPECT_EQ(kept.statuses.at(1).code, Code::over_limit) << "the status says what would have been";
  EXPECT_EQ(kept.deciding, 1u);
  EXPECT_EQ(limiter_.statistics().global_shadow_mode.value(), 1u);
  EXPECT_EQ(limiter_.statistics().over_limit_checks.value(), 0u);
  EXPECT_EQ(counters("d.full").over_limit.value(), 1u);
  EXPECT_EQ(counters("d.full").shadow_mode.value(), 0u) << "that one is for rules in shadow mode";
  ask(descriptors({"wide"}));
  ask(descriptors({"shadow_full"}));
  EXPECT_EQ(limiter_.statistics().global_shadow_mode.value(), 1u) << "only what would have been refused";
}

class GlobalQuotaAndShadow : public LimiterTest {
 protected:
  GlobalQuotaAndShadow() : LimiterTest{{}, {.counter_key = {1, 2}, .shadow_mode = true, .quota_mode = true}} {
    use(kRules);
  }
};

TEST_F(GlobalQuotaAndShadow, CountsWhatQuotaModeWouldRefuse) {
  EXPECT_EQ(ask(descriptors({"full", "wide"})).overall, Code::ok);
  EXPECT_EQ(limiter_.statistics().global_shadow_mode.value(), 0u);
  EXPECT_EQ(ask(descriptors({"full"})).overall, Code::ok);
  EXPECT_EQ(limiter_.statistics().global_shadow_mode.value(), 1u);
}

}  // namespace
}  // namespace penstock::limiter
