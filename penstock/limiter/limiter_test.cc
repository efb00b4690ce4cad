#include "penstock/limiter/limiter.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/testing/allocation_count.h"
#include "penstock/limiter/testing/limiter_test_base.h"

namespace penstock::limiter {
namespace {

using store::testing::Fault;
using testing::Asked;
using testing::Kept;
using testing::kNow;
using testing::LimiterTest;
using testing::load;

constexpr const char* kRules = R"(
domain: d
descriptors:
  - key: user
    rate_limit: {unit: minute, requests_per_unit: 2}
  - key: shy
    shadow_mode: true
    rate_limit: {unit: minute, requests_per_unit: 1}
  - key: free
    rate_limit: {unlimited: true}
  - key: smooth
    rate_limit: {unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 3}
  - key: both
    rate_limits:
      - {unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 2}
      - {unit: day, requests_per_unit: 3, algorithm: gcra}
)";

TEST_F(LimiterTest, LimitsByTheRuleThatMatchesAndSaysWhichOneDecided) {
  use(kRules);
  const Kept first = ask({{{{"user", "ann"}}}});
  EXPECT_EQ(first.overall, Code::ok);
  ASSERT_EQ(first.statuses.size(), 1u);
  EXPECT_EQ(first.statuses[0].remaining, 1u);
  EXPECT_EQ(first.statuses[0].rule->path, "d.user");
  EXPECT_EQ(first.statuses[0].limit->requests_per_unit, 2u);
  EXPECT_EQ(ask({{{{"user", "ann"}}}}).overall, Code::ok);
  EXPECT_EQ(ask({{{{"user", "ann"}}}}).overall, Code::over_limit);
  EXPECT_EQ(ask({{{{"user", "bob"}}}}).overall, Code::ok) << "each value has its own counter";
  EXPECT_EQ(ask({{{{"user", "ann"}}}}, kNow + std::chrono::minutes{1}).overall, Code::ok) << "a new window";
}

TEST_F(LimiterTest, IsOverWhenAnyDescriptorIsOverAndChargesTheOthersAllTheSame) {
  use(kRules);
  ask({{{{"user", "ann"}}}, {{{"user", "bob"}}}});
  ask({{{{"user", "ann"}}}});
  const Kept third = ask({{{{"user", "ann"}}}, {{{"user", "bob"}}}});
  EXPECT_EQ(third.overall, Code::over_limit);
  EXPECT_EQ(limiter_.statistics().over_limit_checks.value(), 1u);
  EXPECT_EQ(third.statuses[0].code, Code::over_limit);
  EXPECT_EQ(third.statuses[1].code, Code::ok);
  EXPECT_EQ(third.statuses[1].remaining, 0u) << "the original's windows are charged singly";
}

TEST_F(LimiterTest, AnswersWhatNothingLimitsWithABareOk) {
  use(kRules);
  for (const Kept& kept : {ask({{{{"other", "x"}}}}), ask({{{{"user", "x"}}}}, kNow, "elsewhere"), ask({{{}}})}) {
    EXPECT_EQ(kept.overall, Code::ok);
    EXPECT_EQ(kept.statuses.at(0).limit, nullptr);
    EXPECT_EQ(kept.statuses.at(0).remaining, 0u);
  }
  EXPECT_EQ(limiter_.statistics().unknown_domains.value(), 1u);
}

TEST_F(LimiterTest, TellsOfAnUnlimitedRuleThatAllRemains) {
  use(kRules);
  const Kept kept = ask({{{{"free", "x"}}}});
  EXPECT_EQ(kept.statuses.at(0).remaining, Status::kUnlimited);
  EXPECT_EQ(kept.statuses.at(0).limit, nullptr);
}

TEST_F(LimiterTest, CountsButPassesAShadowRule) {
  use(kRules);
  ask({{{{"shy", "x"}}}});
  const Kept second = ask({{{{"shy", "x"}}}});
  EXPECT_EQ(second.overall, Code::ok);
  EXPECT_EQ(second.statuses[0].remaining, 0u);
  EXPECT_EQ(counters("d.shy").shadow_mode.value(), 1u);
  EXPECT_EQ(counters("d.shy").over_limit.value(), 1u);
}

TEST_F(LimiterTest, GivesAGcraLimitItsBurstAndThenItsRate) {
  use(kRules);
  for (int hit = 0; hit < 3; ++hit) EXPECT_EQ(ask({{{{"smooth", "x"}}}}).overall, Code::ok);
  const Kept over = ask({{{{"smooth", "x"}}}});
  EXPECT_EQ(over.overall, Code::over_limit);
  EXPECT_EQ(over.statuses[0].reset_seconds, 1);
  EXPECT_EQ(ask({{{{"smooth", "x"}}}}, kNow + std::chrono::seconds{1}).overall, Code::ok);
  EXPECT_EQ(counters("d.smooth").over_limit.value(), 1u);
}

TEST_F(LimiterTest, ChargesAListOfLimitsAllOrNothingAndCountsItAsOneHit) {
  use(kRules);
  EXPECT_EQ(ask({{{{"both", "x"}}}}).statuses[0].limit->unit, rules::Unit::minute) << "1 left against 2";
  ask({{{{"both", "x"}}}});
  const Kept third = ask({{{{"both", "x"}}}});
  EXPECT_EQ(third.overall, Code::over_limit);
  EXPECT_EQ(third.statuses[0].limit->unit, rules::Unit::minute) << "the refusing limit decides";
  const Kept later = ask({{{{"both", "x"}}}}, kNow + std::chrono::seconds{2});
  EXPECT_EQ(later.overall, Code::ok) << "the refused hit was not charged to the day";
  EXPECT_EQ(ask({{{{"both", "x"}}}}, kNow + std::chrono::seconds{9}).statuses[0].limit->unit, rules::Unit::day);
  EXPECT_EQ(counters("d.both").total_hits.value(), 5u);
  EXPECT_EQ(counters("d.both").over_limit.value(), 2u);
  EXPECT_EQ(counters("d.both").within_limit.value(), 3u);
}

TEST_F(LimiterTest, TakesCostsFromTheDescriptorElseFromTheRequestElseOne) {
  use(kRules);
  EXPECT_EQ(ask({{{{"user", "a"}}}}, kNow, "d", 2).statuses[0].remaining, 0u);
  EXPECT_EQ(ask({{.entries = {{"user", "b"}}, .hits = 1}}, kNow, "d", 2).statuses[0].remaining, 1u);
  EXPECT_EQ(ask({{.entries = {{"user", "b"}}, .hits = 0}}, kNow, "d", 2).statuses[0].remaining, 1u);
  EXPECT_EQ(ask({{.entries = {{"user", "c"}}, .hits = ~std::uint64_t{0}}}).overall, Code::over_limit);
}

TEST_F(LimiterTest, LooksOverLimitWhenNothingRemainsButAtAWindowOfTheOriginal) {
  use(kRules);
  ask({{.entries = {{"smooth", "x"}}, .hits = 3}, {.entries = {{"user", "x"}}, .hits = 2}});
  const Kept look = ask({{.entries = {{"smooth", "x"}}, .hits = 0}, {.entries = {{"user", "x"}}, .hits = 0}});
  EXPECT_EQ(look.statuses[0].code, Code::over_limit);
  EXPECT_EQ(look.statuses[1].code, Code::ok) << "0 more than 2 of 2 is not above 2";
}

TEST_F(LimiterTest, GivesHitsBack) {
  use(kRules);
  ask({{.entries = {{"user", "x"}}, .hits = 2}});
  const Kept back = ask({{.entries = {{"user", "x"}}, .hits = 1, .negative_hits = true}});
  EXPECT_EQ(back.overall, Code::ok);
  EXPECT_EQ(back.statuses[0].remaining, 1u);
  EXPECT_EQ(ask({{{{"user", "x"}}}}).overall, Code::ok);
  EXPECT_EQ(counters("d.user").total_hits.value(), 3u) << "a refund is no hit";
}

TEST_F(LimiterTest, TakesNoHitsBackWhereThatIsForbiddenAndChargesNothingOfSuchACheck) {
  Limiter strict{store_, {.counter_key = {1, 2}, .allow_negative_hits = false}};
  strict.use_rules(load(kRules));
  const std::vector<rules::Entry> ann = {{"user", "ann"}};
  const std::vector<rules::Entry> bob = {{"user", "bob"}};
  const std::vector<Descriptor> refund = {{.entries = ann, .hits = 2}, {.entries = bob, .negative_hits = true}};
  const std::vector<Descriptor> plain = {{.entries = ann, .hits = 2}};
  const std::vector<Check> checks = {{.domain = "d", .descriptors = refund, .ticket = 1},
                                     {.domain = "elsewhere", .descriptors = refund, .ticket = 2},
                                     {.domain = "d", .descriptors = plain, .ticket = 3}};
  strict.decide(checks, kNow, sink_);
  for (const std::uint64_t ticket : {1U, 2U}) {
    const Kept& refused = sink_.verdicts.at(ticket);
    ASSERT_TRUE(refused.error);
    EXPECT_EQ(refused.error->code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error->message.find("descriptor 1: is_negative_hits"), std::string::npos);
  }
  EXPECT_EQ(sink_.verdicts.at(3).overall, Code::ok) << "the two hits of the refused check were not charged";
  EXPECT_EQ(strict.statistics().failed_checks.value(), 2u);
}

TEST_F(LimiterTest, LetsTheRequestBringItsOwnLimitForTheSameCounter) {
  use(kRules);
  ask({{.entries = {{"user", "x"}}, .hits = 2}});
  const Kept more = ask({{.entries = {{"user", "x"}}, .limit = Override{5, 2}}});
  EXPECT_EQ(more.overall, Code::ok);
  EXPECT_EQ(more.statuses[0].remaining, 2u) << "two were used before";
  EXPECT_EQ(more.statuses[0].rule, nullptr);
  EXPECT_EQ(more.statuses[0].limit->requests_per_unit, 5u);
  EXPECT_EQ(ask({{.entries = {{"free", "x"}}, .limit = Override{0, 1}}}).overall, Code::over_limit);
}

TEST_F(LimiterTest, RefusesAnOverrideWithAnUnknownUnitAndChargesNothing) {
  use(kRules);
  for (const int unit : {0, 8, 99, -1}) {
    const Kept kept = ask({{{{"user", "x"}}}, {.entries = {{"user", "y"}}, .limit = Override{5, unit}}});
    ASSERT_TRUE(kept.error);
    EXPECT_EQ(kept.error->code, ErrorCode::invalid_argument);
    EXPECT_NE(kept.error->message.find("descriptor 1"), std::string::npos) << kept.error->message;
  }
  EXPECT_FALSE(ask({{.entries = {{"k", "y"}}, .limit = Override{5, 99}}}, kNow, "elsewhere").error)
      << "the unit of an unknown domain is not looked at";
  EXPECT_EQ(ask({{{{"user", "x"}}}}).statuses[0].remaining, 1u);
}

TEST_F(LimiterTest, RefusesWhatTheOriginalRefusesInItsWords) {
  EXPECT_EQ(ask({{{{"user", "x"}}}}).error->message, "no rate limit configuration loaded");
  use(kRules);
  EXPECT_EQ(ask({{{{"user", "x"}}}}, kNow, "").error->message, "rate limit domain must not be empty");
  EXPECT_EQ(ask({}).error->message, "rate limit descriptor list must not be empty");
  EXPECT_EQ(ask({}).error->code, ErrorCode::unknown);
  EXPECT_EQ(limiter_.statistics().failed_checks.value(), 4u);
}

TEST_F(LimiterTest, SwitchesOffTheLimitsThatAnotherOneReplaces) {
  use(R"(
domain: d
descriptors:
  - key: a
    rate_limit: {name: a, unit: minute, requests_per_unit: 1}
  - key: b
    rate_limit: {name: b, unit: minute, requests_per_unit: 5, replaces: [{name: a}]}
  - key: c
    rate_limit: {name: c, unit: minute, requests_per_unit: 5, replaces: [{name: b}]}
)");
  const Kept chain = ask({{{{"a", ""}}}, {{{"b", ""}}}, {{{"c", ""}}}});
  EXPECT_EQ(chain.statuses[0].limit, nullptr) << "replaced by b, though b is replaced itself";
  EXPECT_EQ(chain.statuses[1].limit, nullptr);
  EXPECT_NE(chain.statuses[2].limit, nullptr);
  EXPECT_EQ(ask({{{{"a", ""}}}}).overall, Code::ok) << "its counter was left alone";
  EXPECT_EQ(ask({{{{"a", ""}}}}).overall, Code::over_limit);
}

TEST_F(LimiterTest, DecidesABatchAsItWouldOneByOne) {
  use(kRules);
  const std::vector<rules::Entry> entries = {{"user", "x"}};
  const Descriptor descriptor = {.entries = entries};
  std::vector<Check> checks;
  for (std::uint64_t ticket = 100; ticket < 105; ++ticket) {
    checks.push_back({.domain = ticket == 102 ? "" : "d", .descriptors = {&descriptor, 1}, .ticket = ticket});
  }
  limiter_.decide(checks, kNow, sink_);
  EXPECT_EQ(sink_.verdicts.at(100).overall, Code::ok);
  EXPECT_EQ(sink_.verdicts.at(101).overall, Code::ok);
  EXPECT_TRUE(sink_.verdicts.at(102).error) << "one bad check spoils no other";
  EXPECT_EQ(sink_.verdicts.at(103).overall, Code::over_limit);
  EXPECT_EQ(sink_.verdicts.at(104).overall, Code::over_limit);
}

TEST_F(LimiterTest, SaysWhichDescriptorDecidedTheWhole) {
  use(kRules);
  const std::vector<rules::Entry> smooth = {{"smooth", "x"}}, user = {{"user", "x"}};
  const std::vector<Descriptor> descriptors = {{.entries = smooth}, {.entries = user}};
  class Sink final : public VerdictSink {
   public:
    void on_verdict(std::uint64_t, const Verdict& verdict) override { path = verdict.deciding->rule->path; }
    std::string path;
  } sink;
  const Check check = {.domain = "d", .descriptors = descriptors};
  limiter_.decide({&check, 1}, kNow, sink);
  EXPECT_EQ(sink.path, "d.user") << "1 left against 2";
  limiter_.decide({&check, 1}, kNow, sink);
  limiter_.decide({&check, 1}, kNow, sink);
  EXPECT_EQ(sink.path, "d.user") << "over its limit";
}

TEST_F(LimiterTest, AllocatesNothingOnceWarmWhateverTheRules) {
  use(kRules);
  const std::vector<rules::Entry> user = {{"user", "x"}}, shy = {{"shy", "x"}}, free = {{"free", "x"}},
                                  smooth = {{"smooth", "x"}}, both = {{"both", "x"}}, none = {{"none", "x"}};
  const std::vector<Descriptor> descriptors = {{.entries = user},
                                               {.entries = shy},
                                               {.entries = free},
                                               {.entries = smooth},
                                               {.entries = both},
                                               {.entries = none},
                                               {.entries = user, .limit = Override{5, 2}},
                                               {.entries = both, .hits = 1, .negative_hits = true}};
  class Sink final : public VerdictSink {
   public:
    void on_verdict(std::uint64_t, const Verdict& verdict) override { over += verdict.overall == Code::over_limit; }
    int over = 0;
  } sink;
  const std::vector<Check> checks(8, Check{.domain = "d", .descriptors = descriptors});
  limiter_.decide(checks, kNow, sink);
  const std::uint64_t before = allocation_count();
  limiter_.decide(checks, kNow, sink);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_GT(sink.over, 8) << "refused checks are among them";
}

TEST_F(LimiterTest, KeepsCountersWhenRulesAreReplaced) {
  use(kRules);
  ask({{.entries = {{"user", "x"}}, .hits = 2}, {.entries = {{"smooth", "x"}}, .hits = 3}});
  use(R"(
domain: d
descriptors:
  - key: user
    rate_limit: {unit: minute, requests_per_unit: 7}
  - key: smooth
    rate_limit: {unit: minute, requests_per_unit: 7, algorithm: gcra, burst: 3}
)");
  const Kept after = ask({{{{"user", "x"}}}, {{{"smooth", "x"}}}});
  EXPECT_EQ(after.statuses[0].remaining, 4u) << "2 of 7 were used, and one more";
  EXPECT_EQ(after.statuses[1].remaining, 1u)
      << "3 s of debt were left, less than one hit of the slower rate, and one more";
}

class LateStore : public LimiterTest {
 protected:
  LateStore() : LimiterTest{{Fault::delay, Fault::none, Fault::delay}} { use(kRules); }
};

TEST_F(LateStore, AnswersACheckWhenItsOwnGroupsAreDecidedAndNoOther) {
  const std::uint64_t first = send({{{{"user", "x"}}}, {{{"smooth", "x"}}}});
  const std::uint64_t second = send({{{{"user", "y"}}}});
  const std::uint64_t third = send({{{{"user", "z"}}}});
  EXPECT_EQ(sink_.verdicts.size(), 1u);
  EXPECT_TRUE(sink_.verdicts.contains(third)) << "it did not wait for the others";
  store_.answer(1);
  EXPECT_TRUE(sink_.verdicts.contains(second));
  store_.answer_all();
  const Kept late = sink_.verdicts.at(first);
  ASSERT_EQ(late.statuses.size(), 2u);
  EXPECT_EQ(late.statuses[0].remaining, 1u);
  EXPECT_EQ(late.statuses[1].remaining, 2u);
  EXPECT_EQ(counters("d.user").within_limit.value(), 3u);
}

TEST_F(LateStore, GivesALateVerdictByTheRulesOfItsTime) {
  const std::uint64_t ticket = send({{.entries = {{"user", "x"}}, .limit = Override{9, 3}}});
  const auto old_rules = rules_;
  use("domain: other");
  store_.answer_all();
  const Kept late = sink_.verdicts.at(ticket);
  EXPECT_EQ(late.statuses.at(0).remaining, 8u);
}

class FailingStore : public LimiterTest {
 protected:
  FailingStore() : LimiterTest{{Fault::none, Fault::none, Fault::refuse}} { use(kRules); }
};

TEST_F(FailingStore, IsAnErrorThatSaysWhy) {
  ask({{{{"user", "x"}}}, {{{"user", "y"}}}});
  store_.fail_with(algorithm::Cause::refused);
  const Kept kept = ask({{{{"user", "x"}}}});
  ASSERT_TRUE(kept.error);
  EXPECT_EQ(kept.error->code, ErrorCode::unavailable);
  EXPECT_NE(kept.error->message.find("cannot be reached"), std::string::npos) << kept.error->message;
  EXPECT_EQ(limiter_.statistics().unanswered_groups.value(), 1u);
}

TEST_F(FailingStore, DoesNotSaveARequestThatAnotherDescriptorRefuses) {
  ask({{.entries = {{"user", "x"}}, .hits = 2}, {{{"user", "z"}}}});
  const Kept kept = ask({{{{"user", "y"}}}, {{{"user", "x"}}}});
  EXPECT_FALSE(kept.error);
  EXPECT_EQ(kept.overall, Code::over_limit);
}

}  // namespace
}  // namespace penstock::limiter
