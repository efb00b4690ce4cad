#include "penstock/limiter/judgement.h"

#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/sliding_log.h"

namespace penstock::limiter {
namespace {

using algorithm::Algorithm;
using algorithm::Decision;
using algorithm::Limit;
using algorithm::Outcome;

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'012);  // 12 s into a minute
constexpr Nanoseconds kMillisecond{1'000'000};

rules::RuleLimit original(std::uint32_t amount) {
  return {.limit = Limit::original_window(amount, 60), .unit = rules::Unit::minute, .requests_per_unit = amount};
}

rules::RuleLimit gcra(std::uint32_t amount, std::uint32_t burst) {
  return {
      .limit = *Limit::create({.algorithm = Algorithm::gcra, .amount = amount, .window_seconds = 60, .burst = burst}),
      .unit = rules::Unit::minute,
      .requests_per_unit = amount};
}

rules::RuleLimit made(const algorithm::LimitOptions& options) {
  return {.limit = *Limit::create(options), .unit = rules::Unit::minute, .requests_per_unit = options.amount};
}

rules::Rule rule_with(std::vector<rules::RuleLimit> limits) {
  rules::Rule rule;
  rule.limits = std::move(limits);
  return rule;
}

Plan plan_of(const rules::Rule& rule, std::uint64_t hits = 1) {
  Plan plan;
  plan.match.rule = &rule;
  plan.hits = hits;
  return plan;
}

Status judged(const rules::Rule& rule, const std::vector<Decision>& decisions) {
  return judge(plan_of(rule), rule.limits, decisions, kNow);
}

TEST(Judge, TellsTheRestOfTheWindowWhateverWasDecided) {
  const rules::Rule rule = rule_with({original(10)});
  EXPECT_EQ(judged(rule, {{.outcome = Outcome::allowed, .remaining = 9}}).reset_seconds, 48);
  EXPECT_EQ(judged(rule, {{.outcome = Outcome::denied}}).reset_seconds, 48);
  EXPECT_EQ(judged(rule, {{.outcome = Outcome::never}}).reset_seconds, 48);
}

TEST(Judge, TellsTheWindowsRestInWholeSecondsFromOneToItsLength) {
  const rules::Rule rule = rule_with({original(10)});
  const std::vector<Decision> allowed = {{.outcome = Outcome::allowed}};
  const Instant minute = instant_from_unix_seconds(1'800'000'000);
  EXPECT_EQ(judge(plan_of(rule), rule.limits, allowed, minute).reset_seconds, 60);
  EXPECT_EQ(judge(plan_of(rule), rule.limits, allowed, minute + Nanoseconds{1}).reset_seconds, 60);
  EXPECT_EQ(judge(plan_of(rule), rule.limits, allowed, minute + Nanoseconds{59'999'999'999}).reset_seconds, 1);
}

TEST(Judge, TellsOtherLimitsWaitRoundedUpAndNothingWhereWaitingDoesNotHelp) {
  const rules::Rule rule = rule_with({gcra(60, 5)});
  const Status allowed = judged(rule, {{.remaining = 4, .retry_after = {}, .reset_after = 1'001 * kMillisecond}});
  EXPECT_EQ(allowed.reset_seconds, 2) << "until it is as good as fresh";
  const Status denied = judged(
      rule, {{.outcome = Outcome::denied, .retry_after = 1 * kMillisecond, .reset_after = 5'000 * kMillisecond}});
  EXPECT_EQ(denied.reset_seconds, 1) << "until the same cost passes";
  EXPECT_EQ(denied.code, Code::over_limit);
  const Status never = judged(rule, {{.outcome = Outcome::never, .retry_after = Decision::kNever}});
  EXPECT_EQ(never.reset_seconds, std::nullopt);
  EXPECT_EQ(never.code, Code::over_limit);
}

TEST(Judge, TellsTheEndOfAMultipliedWindow) {
  const rules::Rule rule =
      rule_with({made({.algorithm = Algorithm::fixed_window, .amount = 10, .window_seconds = 300})});
  EXPECT_EQ(judged(rule, {{.remaining = 9}}).reset_seconds, 288);
  EXPECT_EQ(judged(rule, {{.outcome = Outcome::denied}}).reset_seconds, 288);
  EXPECT_EQ(judged(rule, {{.outcome = Outcome::never, .retry_after = Decision::kNever}}).reset_seconds, 288);
}

TEST(Judge, TellsTheEndOfTheCountersOwnWindowWhereWindowsAreSpread) {
  const rules::Rule rule = rule_with(
      {made({.algorithm = Algorithm::fixed_window, .amount = 10, .window_seconds = 60, .spread_windows = true})});
  const rules::RuleLimit& limit = rule.limits[0];
  bool differs = false;
  for (std::uint64_t key = 0; key < 20; ++key) {
    Plan plan = plan_of(rule);
    plan.match.counter = SipHasher128{HashKey{.k0 = key, .k1 = 2}};
    const Nanoseconds offset = limit.limit.window_offset(rules::counter_of(plan.match.counter, limit));
    const algorithm::Step charged = algorithm::decide(limit.limit, {}, kNow + offset, 1);
    const Instant end = algorithm::fresh_at(limit.limit, charged.state) - offset;
    const Status status = judge(plan, rule.limits, {{charged.decision}}, kNow);
    EXPECT_EQ(status.reset_seconds, std::chrono::ceil<std::chrono::seconds>(end - kNow).count()) << "key " << key;
    differs |= status.reset_seconds != 48;
  }
  EXPECT_TRUE(differs);
}

TEST(Judge, TellsTheWaitOfASlidingWindowAndOfALogNotTheEndOfAnything) {
  for (const Algorithm algorithm : {Algorithm::sliding_window, Algorithm::sliding_log}) {
    const rules::Rule rule = rule_with({made({.algorithm = algorithm, .amount = 10, .window_seconds = 60})});
    const Status allowed = judged(rule, {{.remaining = 4, .reset_after = 70'500 * kMillisecond}});
    EXPECT_EQ(allowed.reset_seconds, 71);
    const Status denied = judged(
        rule,
        {{.outcome = Outcome::denied, .retry_after = 1'001 * kMillisecond, .reset_after = 70'500 * kMillisecond}});
    EXPECT_EQ(denied.reset_seconds, 2);
    EXPECT_EQ(judged(rule, {{.outcome = Outcome::never, .retry_after = Decision::kNever}}).reset_seconds, std::nullopt);
  }
}

TEST(Judge, TellsWhoCanWaitTheLongestWaitOfItsLimits) {
  rules::Rule rule = rule_with({gcra(60, 5), gcra(600, 50)});
  const std::vector<Decision> waits = {{.remaining = 0, .retry_after = 3 * kMillisecond},
                                       {.remaining = 4, .retry_after = 7 * kMillisecond}};
  const Status status = judged(rule, waits);
  EXPECT_EQ(status.code, Code::ok);
  EXPECT_EQ(status.wait, 7 * kMillisecond);
  const Status refused = judged(rule, {{.retry_after = 3 * kMillisecond}, {.outcome = Outcome::denied}});
  EXPECT_EQ(refused.wait, Nanoseconds{0});
  rule.shadow_mode = true;
  EXPECT_EQ(judged(rule, waits).wait, Nanoseconds{0}) << "nobody waits for a limit that is only tried out";

  EXPECT_EQ(overall_wait(Code::ok, std::vector{status, Status{}}), 7 * kMillisecond);
  EXPECT_EQ(overall_wait(Code::over_limit, std::vector{status, refused}), Nanoseconds{0});
}

TEST(Judge, LetsTheRefusingLimitOfAListDecideAndAmongThoseTheLongestWait) {
  const rules::Rule rule = rule_with({gcra(60, 5), gcra(600, 50), gcra(6000, 500)});
  const Status one = judged(rule, {{.remaining = 1}, {.outcome = Outcome::denied, .remaining = 3}, {.remaining = 0}});
  EXPECT_EQ(one.limit, &rule.limits[1]);
  EXPECT_EQ(one.remaining, 3u);
  const Status two = judged(rule, {{.outcome = Outcome::denied, .retry_after = 5 * kMillisecond},
                                   {.outcome = Outcome::denied, .retry_after = 9 * kMillisecond},
                                   {.remaining = 0}});
  EXPECT_EQ(two.limit, &rule.limits[1]);
  const Status never = judged(rule, {{.outcome = Outcome::never, .retry_after = Decision::kNever},
                                     {.outcome = Outcome::denied, .retry_after = 9 * kMillisecond},
                                     {.remaining = 0}});
  EXPECT_EQ(never.limit, &rule.limits[0]);
}

TEST(Judge, LetsTheLeastRemainingDecideWhenNoLimitRefuses) {
  const rules::Rule rule = rule_with({gcra(60, 5), gcra(600, 50), gcra(6000, 500)});
  EXPECT_EQ(judged(rule, {{.remaining = 4}, {.remaining = 2}, {.remaining = 3}}).limit, &rule.limits[1]);
  EXPECT_EQ(judged(rule, {{.remaining = 2}, {.remaining = 2}, {.remaining = 3}}).limit, &rule.limits[0]);
}

TEST(Judge, PassesAShadowRuleButShowsWhatRemains) {
  rules::Rule rule = rule_with({original(10)});
  rule.shadow_mode = true;
  const Status status = judged(rule, {{.outcome = Outcome::denied}});
  EXPECT_EQ(status.code, Code::ok);
  EXPECT_EQ(status.remaining, 0u);
  EXPECT_EQ(status.limit, &rule.limits[0]);
}

TEST(Judge, SaysNothingOfADescriptorThatNothingLimits) {
  const Status status = judge(Plan{}, {}, {}, kNow);
  EXPECT_EQ(status.code, Code::ok);
  EXPECT_EQ(status.limit, nullptr);
  EXPECT_EQ(status.remaining, 0u);
  EXPECT_EQ(status.reset_seconds, std::nullopt);
}

Status with_code(Code code, const rules::Rule* rule = nullptr) {
  Status status;
  status.code = code;
  status.rule = rule;
  return status;
}

TEST(OverallCode, FollowsQuotaMode) {
  rules::Rule quota;
  quota.quota_mode = true;
  const Status over = with_code(Code::over_limit), ok = with_code(Code::ok);
  const Status quota_over = with_code(Code::over_limit, &quota), quota_ok = with_code(Code::ok, &quota);
  EXPECT_EQ(overall_code(std::vector{ok, ok}, false), Code::ok);
  EXPECT_EQ(overall_code(std::vector{ok, over}, false), Code::over_limit);
  EXPECT_EQ(overall_code(std::vector{over, quota_ok}, false), Code::over_limit);
  EXPECT_EQ(overall_code(std::vector{ok, quota_over}, false), Code::over_limit) << "all of the one quota";
  EXPECT_EQ(overall_code(std::vector{quota_over, quota_ok}, false), Code::ok);
  EXPECT_EQ(overall_code(std::vector{quota_over, quota_over}, false), Code::over_limit);
}

TEST(DecidingStatus, IsTheLastThatRefusesElseTheFirstWithTheLeastRemaining) {
  const rules::RuleLimit limit = original(10);
  rules::Rule quota;
  quota.quota_mode = true;
  const auto status = [&](Code code, std::uint32_t remaining, const rules::Rule* rule = nullptr) {
    return Status{.code = code, .remaining = remaining, .rule = rule, .limit = &limit};
  };
  const Status bare;
  const auto decided = [](const std::vector<Status>& statuses) {
    const Status* deciding = deciding_status(statuses, false);
    return deciding == nullptr ? -1 : static_cast<int>(deciding - statuses.data());
  };
  EXPECT_EQ(decided({bare, bare}), -1);
  EXPECT_EQ(decided({bare, status(Code::ok, 5), status(Code::ok, 3), status(Code::ok, 3)}), 2);
  EXPECT_EQ(decided({status(Code::over_limit, 0), status(Code::ok, 0), status(Code::over_limit, 0)}), 2);
  EXPECT_EQ(decided({status(Code::ok, 4), status(Code::over_limit, 0, &quota), status(Code::ok, 0)}), 1);
  EXPECT_EQ(decided({status(Code::over_limit, 2), status(Code::over_limit, 0, &quota)}), 0);
}

struct Counted {
  std::uint64_t limit, hits, after, over, near, within;
};

// The recorded attributions of envoyproxy/ratelimit at a near-limit ratio of 0.8.
TEST(CountHits, SplitsHitsOfAWindowAsTheOriginalDoes) {
  for (const Counted& row : std::vector<Counted>{{15, 1, 11, 0, 0, 1},
                                                 {15, 1, 13, 0, 1, 1},
                                                 {15, 1, 16, 1, 0, 0},
                                                 {20, 3, 5, 0, 0, 3},
                                                 {8, 2, 7, 0, 1, 2},
                                                 {20, 3, 19, 0, 3, 3},
                                                 {20, 3, 22, 2, 1, 0},
                                                 {20, 7, 22, 2, 4, 0},
                                                 {10, 3, 30, 3, 0, 0}}) {
    const rules::Rule rule = rule_with({original(static_cast<std::uint32_t>(row.limit))});
    const Outcome outcome = row.after > row.limit ? Outcome::denied : Outcome::allowed;
    const Status status = judged(rule, {{.outcome = outcome, .charged = true, .count_before = row.after - row.hits}});
    RuleCounters counters;
    count_hits(plan_of(rule, row.hits), status, 0.8F, counters);
    EXPECT_EQ(counters.over_limit.value(), row.over) << row.limit << " " << row.hits << " " << row.after;
    EXPECT_EQ(counters.near_limit.value(), row.near) << row.limit << " " << row.hits << " " << row.after;
    EXPECT_EQ(counters.within_limit.value(), row.within) << row.limit << " " << row.hits << " " << row.after;
  }
}

// One more than the threshold is near, the threshold itself is not.
TEST(CountHits, RoundsTheNearThresholdInSinglePrecision) {
  for (const auto& [limit, near] : std::vector<std::pair<std::uint32_t, std::uint64_t>>{
           {1, 0}, {2, 1}, {3, 2}, {5, 4}, {9, 7}, {15, 12}, {16'777'217, 13'421'773}, {100'000'007, 80'000'008}}) {
    const rules::Rule rule = rule_with({original(limit)});
    for (const std::uint64_t after : {near, near + 1}) {
      if (after == 0 || after > limit) continue;
      RuleCounters counters;
      count_hits(plan_of(rule), judged(rule, {{.charged = true, .count_before = after - 1}}), 0.8F, counters);
      EXPECT_EQ(counters.near_limit.value(), after > near ? 1u : 0u) << limit << " after " << after;
    }
  }
}

TEST(CountHits, SurvivesRatiosAboveOneBelowZeroAndHitsBeyondEveryCounter) {
  const rules::Rule rule = rule_with({original(10)});
  for (const float ratio : {-1.0F, 0.0F, 1.5F, 1e30F}) {
    RuleCounters counters;
    count_hits(plan_of(rule, ~std::uint64_t{0}), judged(rule, {{.outcome = Outcome::denied, .count_before = 12}}),
               ratio, counters);
    EXPECT_EQ(counters.over_limit.value(), ~std::uint64_t{0});
  }
}

TEST(CountHits, NeverCallsARefusedHitNearWhereRefusedHitsAreNotCounted) {
  const rules::Rule rule = rule_with({gcra(60, 10)});
  RuleCounters refused;
  count_hits(plan_of(rule, 3), judged(rule, {{.outcome = Outcome::denied, .remaining = 2}}), 0.8F, refused);
  EXPECT_EQ(refused.over_limit.value(), 3u);
  EXPECT_EQ(refused.near_limit.value(), 0u);
  RuleCounters passed;
  count_hits(plan_of(rule, 3), judged(rule, {{.charged = true, .remaining = 1}}), 0.8F, passed);
  EXPECT_EQ(passed.within_limit.value(), 3u);
  EXPECT_EQ(passed.near_limit.value(), 1u) << "9 of 10 are used, 8 is the threshold";
}

// Ten hits one by one, each judged with the decision that its algorithm really gives, then five too many.
TEST(CountHits, TellsWithinNearAndOverOfEveryAlgorithm) {
  for (const Algorithm algorithm : {Algorithm::fixed_window, Algorithm::sliding_window, Algorithm::sliding_log,
                                    Algorithm::token_bucket, Algorithm::leaky_bucket, Algorithm::gcra}) {
    for (const bool count_refused : {false, true}) {
      const rules::Rule rule = rule_with({made({.algorithm = algorithm,
                                                .amount = 10,
                                                .window_seconds = 86'400,
                                                .burst = 10,
                                                .count_refused = count_refused})});
      std::vector<algorithm::LogEntry> places(16);
      algorithm::State state;
      if (rule.limits[0].limit.is_log()) state = algorithm::move_log({}, {}, {.ring = 1, .places = places});
      RuleCounters counters;
      for (int hit = 0; hit < 15; ++hit) {
        const algorithm::Step step =
            algorithm::apply(rule.limits[0].limit, state, {.cost = 1, .now = kNow + hit * kMillisecond}, places);
        state = step.state;
        count_hits(plan_of(rule), judged(rule, {step.decision}), 0.8F, counters);
      }
      EXPECT_EQ(counters.within_limit.value(), 10u) << to_string(algorithm) << count_refused;
      EXPECT_EQ(counters.near_limit.value(), 2u) << to_string(algorithm) << count_refused;
      EXPECT_EQ(counters.over_limit.value(), 5u) << to_string(algorithm) << count_refused;
    }
  }
}

TEST(CountHits, TakesTheLesserBurstOfTwoRatesForTheLimit) {
  const rules::Rule rule = rule_with({made({.algorithm = Algorithm::gcra,
                                            .amount = 100,
                                            .window_seconds = 3600,
                                            .burst = 100,
                                            .peak = algorithm::PeakOptions{.amount = 10, .burst = 10}})});
  RuleCounters counters;
  count_hits(plan_of(rule, 3), judged(rule, {{.charged = true, .remaining = 1}}), 0.8F, counters);
  EXPECT_EQ(counters.near_limit.value(), 1u) << "9 of 10 are used, 8 is the threshold";
}

TEST(CountHits, CountsWhatAShadowRuleWouldHaveRefused) {
  rules::Rule rule = rule_with({original(20)});
  rule.shadow_mode = true;
  RuleCounters counters;
  count_hits(plan_of(rule, 3), judged(rule, {{.outcome = Outcome::denied, .count_before = 19}}), 0.8F, counters);
  EXPECT_EQ(counters.shadow_mode.value(), 2u);
  EXPECT_EQ(counters.over_limit.value(), 2u);
}

}  // namespace
}  // namespace penstock::limiter
