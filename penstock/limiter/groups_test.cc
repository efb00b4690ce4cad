// Which limits of one check depend on each other: `all_or_nothing` of a domain, and LimiterOptions::spare_others.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "penstock/limiter/testing/limiter_test_base.h"
#include "penstock/store/store.h"

namespace penstock::limiter {
namespace {

using testing::Asked;
using testing::Kept;
using testing::kNow;
using testing::LimiterTest;

constexpr const char* kDescriptors = R"(
descriptors:
  - key: one
    rate_limit: {unit: day, requests_per_unit: 1, algorithm: gcra}
  - key: three
    rate_limit: {unit: day, requests_per_unit: 3, algorithm: gcra}
  - key: quiet
    rate_limit: {unit: day, requests_per_unit: 1, count_refused: false}
  - key: list
    rate_limits:
      - {unit: day, requests_per_unit: 3, algorithm: gcra}
      - {unit: hour, requests_per_unit: 2, algorithm: sliding_window}
  - key: window
    rate_limit: {unit: day, requests_per_unit: 3}
  - key: small_window
    rate_limit: {unit: day, requests_per_unit: 1}
  - key: shadow
    shadow_mode: true
    rate_limit: {unit: day, requests_per_unit: 1, algorithm: gcra}
  - key: shadow_window
    shadow_mode: true
    rate_limit: {unit: day, requests_per_unit: 1}
  - key: quota
    quota_mode: true
    rate_limit: {unit: day, requests_per_unit: 1, algorithm: gcra}
)";

std::string rules_with(std::string_view root) { return fmt::format("domain: d\n{}\n{}", root, kDescriptors); }

Asked hit(std::string_view key, std::uint64_t hits = 1) { return {.entries = {{key, "x"}}, .hits = hits}; }
Asked refund(std::string_view key) { return {.entries = {{key, "x"}}, .hits = 1, .negative_hits = true}; }

class AllOrNothing : public LimiterTest {
 protected:
  AllOrNothing() { use(rules_with("all_or_nothing: true")); }
  std::uint32_t left(std::string_view key) { return ask({hit(key, 0)}).statuses.at(0).remaining; }
};

TEST_F(AllOrNothing, ChargesNoLimitOfACheckThatOneOfThemRefuses) {
  EXPECT_EQ(ask({hit("one"), hit("three")}).overall, Code::ok);
  const Kept refused = ask({hit("three"), hit("one"), hit("list")});
  EXPECT_EQ(refused.overall, Code::over_limit);
  EXPECT_EQ(refused.statuses.at(0).code, Code::ok) << "it would have passed alone";
  EXPECT_EQ(refused.statuses.at(0).remaining, 2u) << "and was not charged";
  EXPECT_EQ(refused.statuses.at(1).code, Code::over_limit);
  EXPECT_EQ(refused.deciding, 1u);
  EXPECT_EQ(left("three"), 2u);
  EXPECT_EQ(left("list"), 2u);
  EXPECT_EQ(counters("d.three").within_limit.value(), 1u) << "what was not charged is not within";
  EXPECT_EQ(counters("d.one").over_limit.value(), 1u);
}

TEST_F(AllOrNothing, TakesAListInWhole) {
  ask({hit("list", 2)});
  EXPECT_EQ(ask({hit("one"), hit("list")}).overall, Code::over_limit) << "two an hour";
  EXPECT_EQ(left("one"), 1u);
}

TEST_F(AllOrNothing, LeavesTheOriginalsWindowsOnTheirOwn) {
  ask({hit("one")});
  EXPECT_EQ(ask({hit("window"), hit("one"), hit("quiet")}).overall, Code::over_limit);
  EXPECT_EQ(left("window"), 2u) << "charged, as the original does";
  EXPECT_EQ(left("quiet"), 1u) << "a window that does not count what it refuses is in the group";
}

TEST_F(AllOrNothing, NeverLetsAShadowVetoNorChargesItWhenTheGroupIsRefused) {
  ask({hit("shadow")});
  EXPECT_EQ(ask({hit("shadow"), hit("three")}).overall, Code::ok);
  EXPECT_EQ(left("three"), 2u);
  ask({hit("one")});
  ask({{.entries = {{"shadow", "y"}}, .hits = 1}, hit("one")});
  EXPECT_EQ(ask({{.entries = {{"shadow", "y"}}, .hits = 0}}).statuses.at(0).remaining, 1u);
}

TEST_F(AllOrNothing, LeavesQuotaRulesApartSinceTheyRefuseNothingByThemselves) {
  ask({hit("quota")});
  EXPECT_EQ(ask({hit("quota"), {.entries = {{"quota", "other"}}}, hit("three")}).overall, Code::ok);
  EXPECT_EQ(left("three"), 2u);
}

TEST_F(AllOrNothing, SeesChargesOnOneCounterTogether) {
  EXPECT_EQ(ask({hit("three", 2), hit("three", 2)}).overall, Code::over_limit);
  EXPECT_EQ(left("three"), 3u);
}

TEST_F(AllOrNothing, TakesRefundsEachOnItsOwn) {
  ask({hit("one"), hit("three")});
  const Kept kept = ask({refund("one"), hit("three")});
  EXPECT_EQ(kept.overall, Code::ok);
  EXPECT_EQ(left("one"), 1u);
  EXPECT_EQ(left("three"), 1u);
}

TEST_F(AllOrNothing, RefusesMoreLimitsThanCanPassTogetherAndChargesNothing) {
  const std::vector<Asked> fits(store::Group::kMaxCharges, hit("three", 0));
  EXPECT_FALSE(ask(fits).error);
  std::vector<Asked> asked(store::Group::kMaxCharges, hit("three"));
  asked.push_back(hit("one"));
  const Kept kept = ask(asked);
  ASSERT_TRUE(kept.error);
  EXPECT_EQ(kept.error->code, ErrorCode::invalid_argument);
  EXPECT_NE(kept.error->message.find("65 limits"), std::string::npos) << kept.error->message;
  EXPECT_EQ(left("one"), 1u);
}

class AllOrNothingInShadow : public LimiterTest {
 protected:
  AllOrNothingInShadow() : LimiterTest{{}, {.counter_key = {1, 2}, .shadow_mode = true}} {
    use(rules_with("all_or_nothing: true"));
  }
};

TEST_F(AllOrNothingInShadow, ChargesEachOnItsOwnSinceNothingIsRefused) {
  ask({hit("one")});
  ask({hit("one"), hit("three")});
  EXPECT_EQ(ask({hit("three", 0)}).statuses.at(0).remaining, 2u);
}

class SpareOthers : public LimiterTest {
 protected:
  SpareOthers() : LimiterTest{{}, {.counter_key = {1, 2}, .spare_others = true}} { use(rules_with("")); }
};

TEST_F(SpareOthers, ChargesOnlyThoseThatAreOver) {
  ask({hit("small_window"), hit("window")});
  const Kept refused = ask({hit("window"), hit("small_window")});
  EXPECT_EQ(refused.overall, Code::over_limit);
  EXPECT_EQ(refused.statuses.at(0).code, Code::ok);
  EXPECT_EQ(refused.statuses.at(0).remaining, 2u);
  EXPECT_EQ(counters("d.window").within_limit.value(), 1u) << "what was spared is not counted as within";
  EXPECT_EQ(counters("d.window").total_hits.value(), 2u);
  EXPECT_EQ(counters("d.small_window").over_limit.value(), 1u);
}

TEST_F(SpareOthers, AnswersTheVectorOfTheOriginal) {
  const auto hour = [](std::uint32_t limit) { return Override{limit, 3}; };
  const auto both = [&](std::uint64_t hits) {
    return ask({{.entries = {{"a", ""}}, .limit = hour(15), .hits = hits},
                {.entries = {{"b", ""}}, .limit = hour(14), .hits = hits}});
  };
  both(13);
  const Kept kept = both(2);
  EXPECT_EQ(kept.statuses.at(0).code, Code::ok);
  EXPECT_EQ(kept.statuses.at(0).remaining, 2u);
  EXPECT_EQ(kept.statuses.at(1).code, Code::over_limit);
  EXPECT_EQ(kept.statuses.at(1).remaining, 0u);
}

TEST_F(SpareOthers, LetsAShadowRuleSpareTheOthersToo) {
  ask({hit("shadow_window")});
  ask({hit("shadow_window"), hit("window")});
  EXPECT_EQ(ask({hit("window", 0)}).statuses.at(0).remaining, 3u);
}

TEST_F(SpareOthers, LeavesOtherLimitsOnTheirOwn) {
  ask({hit("small_window")});
  ask({hit("small_window"), hit("three"), hit("window")});
  EXPECT_EQ(ask({hit("three", 0)}).statuses.at(0).remaining, 2u);
  EXPECT_EQ(ask({hit("window", 0)}).statuses.at(0).remaining, 3u);
}

TEST_F(SpareOthers, TakesAnyNumberOfDescriptors) {
  std::vector<Asked> asked(3 * store::Group::kMaxCharges, hit("window", 0));
  asked.push_back(hit("window"));
  EXPECT_FALSE(ask(asked).error);
  EXPECT_EQ(ask({hit("window", 0)}).statuses.at(0).remaining, 2u);
}

}  // namespace
}  // namespace penstock::limiter
