#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/description.h"
#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

using algorithm::Algorithm;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The only limit of a file with one.
RuleLimit limit_from(const std::string& limit) {
  const std::shared_ptr<const RuleSet> rules = rules_of(with_limit(limit));
  const Rule& rule = only_rule(*rules);
  return rule.limits.empty() ? RuleLimit{.limit = algorithm::Limit::original_window(0, 1)} : rule.limits[0];
}

std::string described(const std::string& limit) { return describe_limit(limit_from(limit)); }

TEST(OurFields, NameSixAlgorithmsOfWhichAFixedWindowAloneCountsRefusedHits) {
  for (const Algorithm algorithm : {Algorithm::fixed_window, Algorithm::sliding_window, Algorithm::sliding_log,
                                    Algorithm::token_bucket, Algorithm::leaky_bucket, Algorithm::gcra}) {
    const std::string word{to_string(algorithm)};
    const RuleLimit made = limit_from("{unit: hour, requests_per_unit: 7, algorithm: " + word + "}");
    EXPECT_EQ(made.limit.algorithm(), algorithm);
    EXPECT_EQ(made.limit.window_seconds(), 3600) << word;
    EXPECT_EQ(made.limit.capacity(), 7u) << word;
    EXPECT_EQ(made.limit.counts_refused(), algorithm == Algorithm::fixed_window) << word;
  }
}

TEST(OurFields, GiveBucketsTheirBurst) {
  for (const std::string word : {"gcra", "token_bucket", "leaky_bucket"}) {
    const auto capacity = [&](const std::string& limit) {
      return limit_from("{algorithm: " + word + ", " + limit).limit.capacity();
    };
    EXPECT_EQ(capacity("unit: minute, requests_per_unit: 600, burst: 20}"), 20u);
    EXPECT_EQ(capacity("unit: minute, requests_per_unit: 600}"), 600u);
    EXPECT_EQ(capacity("unit: year, requests_per_unit: 4294967295, burst: 4294967295}"), 4294967295u);
  }
}

TEST(OurFields, MultiplyTheUnit) {
  const RuleLimit five = limit_from("{unit: minute, unit_multiplier: 5, requests_per_unit: 10}");
  EXPECT_EQ(five.limit.window_seconds(), 300);
  EXPECT_EQ(five.unit_multiplier, 5u);
  EXPECT_EQ(five.unit, Unit::minute);
  const RuleLimit decade =
      limit_from("{unit: year, unit_multiplier: 10, requests_per_unit: 1, algorithm: token_bucket}");
  EXPECT_EQ(decade.limit.window_seconds(), 315'360'000);
  EXPECT_EQ(limit_from("{unit: second, unit_multiplier: 1073741823, requests_per_unit: 1}").limit.window_seconds(),
            algorithm::Limit::kMaxWindowSeconds);
  EXPECT_EQ(limit_from("{unit: day, unit_multiplier: ~, requests_per_unit: 1}").limit,
            algorithm::Limit::original_window(1, 86'400));
}

TEST(OurFields, GiveBucketsAPeak) {
  const RuleLimit made = limit_from(
      "{unit: minute, requests_per_unit: 600, algorithm: gcra, burst: 20, "
      "peak: {unit: second, unit_multiplier: 2, requests_per_unit: 30, burst: 4}}");
  EXPECT_TRUE(made.limit.has_peak());
  EXPECT_EQ(made.limit.capacity(), 4u);
  ASSERT_TRUE(made.peak.has_value());
  EXPECT_EQ(made.peak->unit_multiplier, 2u);
  const Result<algorithm::Limit> same =
      algorithm::Limit::create({.algorithm = Algorithm::gcra,
                                .amount = 600,
                                .window_seconds = 60,
                                .burst = 20,
                                .peak = algorithm::PeakOptions{.amount = 30, .window_seconds = 2, .burst = 4}});
  EXPECT_EQ(made.limit, same.value());
  EXPECT_EQ(limit_from("{unit: day, requests_per_unit: 9, algorithm: gcra, peak: ~}").limit.has_peak(), false);
  EXPECT_EQ(limit_from("{unit: day, requests_per_unit: 9000, algorithm: gcra, "
                       "peak: {unit: second, requests_per_unit: 3}}")
                .peak->burst,
            3u)
      << "as much as its rate, unless said otherwise";
}

TEST(OurFields, WarnOfAPeakThatNeverDecidesAndOfOneThatAlwaysDoes) {
  const auto warnings = [](const std::string& peak) {
    return warnings_of(
        with_limit("{unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 10, peak: " + peak + "}"));
  };
  EXPECT_THAT(warnings("{unit: second, requests_per_unit: 1, burst: 10}"), ElementsAre(HasSubstr("never decides")));
  EXPECT_THAT(warnings("{unit: hour, requests_per_unit: 3600, burst: 9}"), ElementsAre(HasSubstr("only the peak")));
  EXPECT_THAT(warnings("{unit: second, requests_per_unit: 2, burst: 9}"), IsEmpty());
  EXPECT_THAT(warnings("{unit: hour, requests_per_unit: 1, burst: 11}"), IsEmpty());
}

TEST(OurFields, LetCallersOfALeakyBucketWait) {
  for (const auto& [text, wait] : std::vector<std::pair<std::string, Nanoseconds>>{
           {"250ms", std::chrono::milliseconds{250}},
           {"2s", std::chrono::seconds{2}},
           {"'90s'", std::chrono::seconds{90}},
           {"1m", std::chrono::minutes{1}},
           {"24h", std::chrono::hours{24}},
           {"0s", Nanoseconds{0}},
           {"~", Nanoseconds{0}},
       }) {
    EXPECT_EQ(limit_from("{unit: day, requests_per_unit: 1, algorithm: leaky_bucket, max_wait: " + text + "}")
                  .limit.max_wait(),
              wait)
        << text;
  }
}

TEST(OurFields, SpreadWindowsAndCountRefusedHitsWhereAsked) {
  for (const std::string word : {"fixed_window", "sliding_window"}) {
    EXPECT_TRUE(limit_from("{unit: day, requests_per_unit: 1, window_offset: per_key, algorithm: " + word + "}")
                    .limit.spreads_windows());
  }
  EXPECT_FALSE(limit_from("{unit: day, requests_per_unit: 1, count_refused: false}").limit.counts_refused());
  EXPECT_TRUE(limit_from("{unit: day, requests_per_unit: 1, count_refused: yes, algorithm: sliding_log}")
                  .limit.counts_refused());
}

TEST(OurFields, MakeListsOfLimitsThatCountNoRefusedHitsUnlessAsked) {
  const std::shared_ptr<const RuleSet> rules =
      rules_of(with_fields("rate_limits:\n"
                           "      - {unit: second, requests_per_unit: 10, algorithm: gcra, peak: {unit: second, "
                           "requests_per_unit: 20, burst: 1}}\n"
                           "      - {unit: day, requests_per_unit: 100000, algorithm: fixed_window}\n"
                           "      - {unit: hour, unit_multiplier: 6, requests_per_unit: 9, algorithm: sliding_window, "
                           "window_offset: per_key}\n"
                           "      - {unit: hour, requests_per_unit: 9, algorithm: leaky_bucket, max_wait: 1s}\n"
                           "      - {unit: week, requests_per_unit: 0, algorithm: sliding_window}\n"
                           "      - {unit: week, requests_per_unit: 5, count_refused: true}"));
  EXPECT_EQ(describe(&only_rule(*rules)), "10/second + 100000/day + 9/hour + 9/hour + 0/week + 5/week");
  for (const RuleLimit& limit : only_rule(*rules).limits) {
    EXPECT_TRUE(limit.from_list);
    EXPECT_EQ(limit.limit.counts_refused(), limit.requests_per_unit == 5);
  }
}

TEST(OurFields, TakeZeroAsAWindowThatRefusesAll) {
  for (const std::string word : {"fixed_window", "sliding_window"}) {
    EXPECT_EQ(limit_from("{unit: day, requests_per_unit: 0, algorithm: " + word + "}").limit.capacity(), 0u);
  }
}

TEST(OurFields, AreDescribedInWords) {
  EXPECT_EQ(described("{unit: Minute, requests_per_unit: 600}"),
            "600 per minute, fixed_window, refused hits count as well");
  EXPECT_EQ(described("{unit: day, requests_per_unit: 0}"), "0 per day, fixed_window: refuses every hit");
  EXPECT_EQ(
      described("{unit: hour, unit_multiplier: 6, requests_per_unit: 9, algorithm: sliding_window, window_offset: "
                "per_key}"),
      "9 per 6 hours, sliding_window, windows begin at an offset per key");
  EXPECT_EQ(described("{unit: hour, requests_per_unit: 9, algorithm: sliding_log}"), "9 per hour, sliding_log");
  EXPECT_EQ(described("{unit: minute, requests_per_unit: 600, algorithm: gcra, burst: 20, peak: {unit: second, "
                      "requests_per_unit: 15, burst: 3}}"),
            "600 per minute, gcra, burst 20, peak 15 per second with burst 3");
  EXPECT_EQ(described("{unit: second, requests_per_unit: 5, algorithm: leaky_bucket, burst: 1, max_wait: 1500ms}"),
            "5 per second, leaky_bucket, burst 1, waits of up to 1500ms for callers that can wait");
  EXPECT_EQ(described("{unit: second, requests_per_unit: 5, algorithm: leaky_bucket, max_wait: 120s}"),
            "5 per second, leaky_bucket, burst 5, waits of up to 2m for callers that can wait");
  EXPECT_EQ(described("{unit: day, requests_per_unit: 5, algorithm: token_bucket, count_refused: true}"),
            "5 per day, token_bucket, burst 5, refused hits count as well");
}

TEST(OurFields, AreDescribedRuleByRule) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - {key: "a\nb", shadow_mode: true, quota_mode: true, rate_limit: {unlimited: true}}
  - key: two
    shadow_mode: true
    rate_limits: [{unit: day, requests_per_unit: 1}, {unit: day, requests_per_unit: 2, algorithm: gcra}]
)");
  EXPECT_THAT(describe_rule(*rules->rules()[0]), ElementsAre(R"('d.a\nb': unlimited, shadow_mode, quota_mode)"));
  EXPECT_THAT(describe_rule(*rules->rules()[1]), ElementsAre("'d.two': 1 per day, fixed_window, shadow_mode",
                                                             "'d.two': 2 per day, gcra, burst 2, shadow_mode"));
}

struct Wrong {
  std::string text;                  // the character after '@' is the place of the mistake
  std::vector<std::string> message;  // parts of it
};

void expect_wrong(const std::vector<Wrong>& table) {
  for (const Wrong& wrong : table) {
    const std::size_t at = wrong.text.find('@');
    ASSERT_NE(at, std::string::npos) << wrong.text;
    const std::string before = wrong.text.substr(0, at);
    const std::size_t line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
    const std::string place = fmt::format("{}:{}", line, at - before.rfind('\n'));
    expect_refused({{.text = before + wrong.text.substr(at + 1), .place = place, .message = wrong.message}});
  }
}

// A limit with the fields that every limit needs, and `fields`.
std::string with(const std::string& fields) { return with_limit("{unit: day, requests_per_unit: 9, " + fields + "}"); }

TEST(OurFields, AreRefusedWithWrongValues) {
  expect_wrong({
      {with("algorithm: @gcar"),
       {"'gcar'", "did you mean 'gcra'?",
        "fixed_window, sliding_window, sliding_log, "
        "token_bucket, leaky_bucket, gcra"}},
      {with("algorithm: @GCRA"), {"'GCRA'", "'gcra'"}},
      {with("algorithm: @tokenbuckt"), {"unknown algorithm 'tokenbuckt'", "'token_bucket'"}},
      {with("algorithm: @''"), {"unknown algorithm ''", "accepted: fixed_window"}},
      {with("algorithm: @[gcra]"), {"a list", "a text"}},
      {with("algorithm: gcra, burst: @0"), {"'0'", "from 1 to 4294967295"}},
      {with("algorithm: gcra, burst: @-3"), {"'-3'"}},
      {with("unit_multiplier: @0"), {"'unit_multiplier' is '0'", "from 1 to 1073741823"}},
      {with("unit_multiplier: @12428"), {"'unit_multiplier' is 12428", "from 1 to 12427 for the unit day"}},
      {with("unit_multiplier: @4294967296"), {"'4294967296'", "from 1 to 1073741823"}},
      {with("unit_multiplier: @1.5"), {"'1.5'"}},
      {with("unit_multiplier: @\"2\""), {"'2', a text", "without quotes"}},
      {with("window_offset: @per_request"), {"'window_offset' is 'per_request'", "accepted is per_key"}},
      {with("window_offset: @5"), {"'5'", "per_key"}},
      {with("window_offset: @[per_key]"), {"a list", "a text"}},
      {with("count_refused: @1"), {"'1', an integer", "true and false"}},
      {with("count_refused: @\"false\""), {"'false', a text"}},
      {with("algorithm: leaky_bucket, max_wait: @5"), {"'max_wait' is '5'", "250ms, 2s, 1m or 1h", "up to 24h"}},
      {with("algorithm: leaky_bucket, max_wait: @1.5s"), {"'1.5s'"}},
      {with("algorithm: leaky_bucket, max_wait: @1.5"), {"'1.5'", "250ms"}},
      {with("algorithm: leaky_bucket, max_wait: @-1s"), {"'-1s'"}},
      {with("algorithm: leaky_bucket, max_wait: @1 s"), {"'1 s'"}},
      {with("algorithm: leaky_bucket, max_wait: @2S"), {"'2S'"}},
      {with("algorithm: leaky_bucket, max_wait: @ms"), {"'ms'"}},
      {with("algorithm: leaky_bucket, max_wait: @25h"), {"'25h'", "up to 24h"}},
      {with("algorithm: leaky_bucket, max_wait: @9223372036854775807h"), {"up to 24h"}},
      {with("algorithm: leaky_bucket, max_wait: @{s: 1}"), {"'max_wait' is a mapping"}},
      {with("algorithm: gcra, peak: @5"), {"'peak' is '5', an integer", "unit, requests_per_unit, unit_multiplier"}},
  });
}

TEST(OurFields, AreRefusedInAPeakAsInTheLimitItself) {
  const auto peak = [](const std::string& fields) { return with("algorithm: gcra, peak: " + fields); };
  expect_wrong({
      {peak("@{requests_per_unit: 1}"), {"without 'unit'"}},
      {peak("{unit: @sec, requests_per_unit: 1}"), {"unknown unit 'sec'"}},
      {peak("@{unit: second}"), {"no 'requests_per_unit'", "a peak", "at least 1"}},
      {peak("{unit: second, requests_per_unit: @0}"), {"'requests_per_unit' is 0", "at least 1"}},
      {peak("{unit: second, requests_per_unit: @x}"), {"'x', a text"}},
      {peak("{unit: second, requests_per_unit: 1, burst: @0}"), {"'burst' is '0'", "from 1 to"}},
      {peak("{unit: year, requests_per_unit: 1, unit_multiplier: @35}"), {"is 35", "from 1 to 34 for the unit year"}},
      {peak("{unit: second, requests_per_unit: 1, @algorithm: gcra}"), {"'algorithm' has no place in peak"}},
      {peak("{unit: second, requests_per_unit: 1, @name: n}"), {"'name' has no place in peak"}},
      {peak("{unit: second, requests_per_unit: 1, @brust: 1}"), {"unknown field 'brust' in peak", "'burst'"}},
      {peak("{unit: second, requests_per_unit: 1, @peak: {}}"), {"'peak' has no place in peak"}},
  });
}

TEST(OurFields, AreRefusedWhereTheyHaveNoMeaningForTheAlgorithm) {
  const std::string buckets = "token_bucket, leaky_bucket, gcra";
  const std::string windows = "accepted with fixed_window, sliding_window";
  expect_wrong({
      {with("burst: @2"), {"'burst' has no meaning for fixed_window", buckets}},
      {with("algorithm: sliding_log, burst: @2"), {"'burst' has no meaning for sliding_log", buckets}},
      {with("peak: @{unit: second, requests_per_unit: 1}"), {"'peak' has no meaning for fixed_window", buckets}},
      {with("algorithm: sliding_window, peak: @{unit: second, requests_per_unit: 1}"),
       {"'peak' has no meaning for sliding_window", buckets}},
      {with("algorithm: gcra, max_wait: @1s"), {"'max_wait' has no meaning for gcra", "with leaky_bucket"}},
      {with("max_wait: @1s"), {"'max_wait' has no meaning for fixed_window"}},
      {with("algorithm: gcra, window_offset: @per_key"), {"'window_offset' has no meaning for gcra", windows}},
      {with("algorithm: sliding_log, window_offset: @per_key"), {"no meaning for sliding_log", windows}},
  });
  EXPECT_THAT(errors_of(with("algorithm: sliding_log, burst: 1, peak: {}, max_wait: 1s, window_offset: per_key")),
              SizeIs(4));
}

TEST(OurFields, AreRefusedInPlacesWhereTheyStandForNothing) {
  for (const std::string field : {"burst: 3", "unit_multiplier: 2", "peak: {}", "max_wait: 1s",
                                  "window_offset: per_key", "count_refused: true", "algorithm: gcra"}) {
    const std::string name = field.substr(0, field.find(':'));
    EXPECT_THAT(
        errors_of(with_fields(field)),
        ElementsAre(HasSubstr("r.yaml:4:5: '" + name + "' has no place in a descriptor; it belongs in rate_limit")));
    EXPECT_THAT(errors_of(field + "\ndomain: d"),
                ElementsAre(HasSubstr("'" + name + "' has no place in the file's root")));
    if (name != "peak") {
      EXPECT_THAT(errors_of(with_limit("{unlimited: true, " + field + "}")),
                  ElementsAre(HasSubstr("'" + name + "' has no meaning together with 'unlimited: true'")));
    }
  }
}

TEST(OurFields, RefuseAmountsThatTheAlgorithmCannotKeep) {
  const auto amount = [](const std::string& requests, const std::string& algorithm) {
    return with_limit("{unit: day, requests_per_unit: @" + requests + ", algorithm: " + algorithm + "}");
  };
  expect_wrong({
      {amount("0", "gcra"), {"is 0", "gcra needs a rate of at least 1", "fixed_window and sliding_window"}},
      {amount("0", "sliding_log"), {"is 0", "sliding_log needs"}},
      {amount("0", "token_bucket"), {"is 0", "token_bucket needs"}},
      {amount("0", "leaky_bucket"), {"is 0", "leaky_bucket needs"}},
      {with_limit("@{unit: day, algorithm: gcra}"), {"no 'requests_per_unit'", "at least 1"}},
      {amount("65537", "sliding_log"), {"65537", "1 to 65536", "sliding_window"}},
      {amount("4294967295", "sliding_log"), {"4294967295", "sliding_window"}},
  });
  EXPECT_THAT(errors_of(with_limit("{unit: day, requests_per_unit: 65536, algorithm: sliding_log}")), IsEmpty());
}

TEST(OurFields, AreRefusedWhereAListMakesNoSense) {
  const std::string gcra = "{unit: day, requests_per_unit: 1, algorithm: gcra}";
  const auto window = [](const std::string& fields) { return "{requests_per_unit: 1, " + fields + "}"; };
  const auto list = [](const std::string& one, const std::string& two) {
    return with_fields("rate_limits: [" + one + ", " + two + "]");
  };
  std::string seventeen = "rate_limits: @[";
  for (int i = 1; i <= 17; ++i) seventeen += fmt::format("{{unit: day, requests_per_unit: {}, algorithm: gcra}},", i);
  expect_wrong({
      {"domain: d\n@rate_limits: []", {"'rate_limits' has no place in the file's root", "a descriptor"}},
      {with_fields("rate_limits: @[]"), {"0 limits", "1 to 16"}},
      {with_fields(seventeen + "]"), {"17 limits", "1 to 16"}},
      {with_fields("rate_limits: @" + gcra), {"a mapping", "a list of mappings"}},
      {with_fields("rate_limit: " + gcra + "\n    rate_limits: @[" + gcra + "]"),
       {"'rate_limits' beside 'rate_limit'"}},
      {list(gcra, "@" + gcra), {"the same limit twice"}},
      {list(window("unit: day"), "@" + window("unit: DAY")), {"a second fixed_window per day"}},
      {list(window("unit: hour"), "@" + window("unit: minute, unit_multiplier: 60")),
       {"a second fixed_window per 60 minutes"}},
      {list(window("unit: day, algorithm: sliding_window"), "@" + window("unit: day, algorithm: sliding_window")),
       {"a second sliding_window per day"}},
      {with_fields("rate_limits: [{unit: day, requests_per_unit: 1, @name: n}]"),
       {"'name' has no place in an item of rate_limits"}},
      {with_fields("rate_limits: [{unit: day, requests_per_unit: 1, @replaces: []}]"), {"'replaces'"}},
      {with_fields("rate_limits: [{@unlimited: true}]"), {"'unlimited'"}},
      {with_fields("rate_limits: [{unit: day, requests_per_unit: 1, @shadow_mode: true}]"), {"'shadow_mode'"}},
      {with_fields("rate_limits: [{unit: day, requests_per_unit: 1, burst: @2}]"), {"'burst' has no meaning"}},
  });
  EXPECT_THAT(errors_of(list(window("unit: day"), window("unit: day, window_offset: per_key"))), IsEmpty());
  EXPECT_THAT(errors_of(list(window("unit: day"), window("unit: day, algorithm: sliding_window"))), IsEmpty());
}

TEST(OurFields, OneMistypedNameIsOneError) {
  EXPECT_THAT(errors_of(with("algoritm: gcra, burst: 3")), SizeIs(1));
  EXPECT_THAT(errors_of(with("algorithm: gcra, peak: {units: second, requests_per_unit: 1}")), SizeIs(1));
  EXPECT_THAT(errors_of(with("algorithm: gcra, peak: {unit: second, requests: 1}")), SizeIs(1));
  EXPECT_THAT(errors_of(with("algorithm: gkra, burst: 3, max_wait: 1s, window_offset: per_key")), SizeIs(1));
}

TEST(OurFields, OfAMergedLimitAddUp) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - &base {key: a, rate_limit: {unit: day, requests_per_unit: 9, algorithm: leaky_bucket, max_wait: 1s}}
  - {<<: *base, key: b, rate_limit: {burst: 2, peak: {unit: second, requests_per_unit: 1}}}
)");
  ASSERT_THAT(rules->rules(), SizeIs(2));
  EXPECT_EQ(
      describe_limit(rules->rules()[1]->limits.at(0)),
      "9 per day, leaky_bucket, burst 2, peak 1 per second with burst 1, waits of up to 1s for callers that can wait");
}

TEST(OurFields, SayWhereCountersAreAndWhatHappensWhenTheyCannotBeReached) {
  const RuleLimit plain = limit_from("{unit: hour, requests_per_unit: 7}");
  EXPECT_EQ(plain.tier, Tier::global);
  EXPECT_EQ(plain.store, "");
  EXPECT_FALSE(plain.on_store_failure);
  const RuleLimit local = limit_from("{unit: hour, requests_per_unit: 7, tier: local}");
  EXPECT_EQ(local.tier, Tier::local);
  for (const OnStoreFailure policy :
       {OnStoreFailure::error, OnStoreFailure::allow, OnStoreFailure::deny, OnStoreFailure::local}) {
    const std::string word{to_string(policy)};
    EXPECT_EQ(limit_from("{unit: hour, requests_per_unit: 7, on_store_failure: " + word + "}").on_store_failure,
              policy);
  }
  EXPECT_EQ(limit_from("{unit: hour, requests_per_unit: 7, store: big, tier: global}").store, "big");
  EXPECT_THAT(described("{unit: hour, requests_per_unit: 7, tier: local}"), HasSubstr("counted by each node alone"));
  EXPECT_THAT(described("{unit: hour, requests_per_unit: 7, store: big, on_store_failure: deny}"),
              HasSubstr("in store big, on_store_failure deny"));
}

TEST(OurFields, StoreOfTheFileIsThatOfLimitsThatNameNone) {
  const auto rules = rules_of(R"(
domain: d
store: common
descriptors:
  - {key: a, rate_limit: {unit: hour, requests_per_unit: 7}}
  - {key: b, rate_limit: {unit: hour, requests_per_unit: 7, store: own}}
  - {key: c, rate_limit: {unit: hour, requests_per_unit: 7, tier: local}}
)");
  EXPECT_EQ(rules->rules()[0]->limits[0].store, "common");
  EXPECT_EQ(rules->rules()[1]->limits[0].store, "own");
  EXPECT_EQ(rules->rules()[2]->limits[0].store, "");
  EXPECT_EQ(rules->store_of(*rules->domain("d")), "common");
}

std::string mistake_in(const std::string& limit, const LoadOptions& options = {}) {
  const std::vector<Source> sources = {{.name = "f.yaml", .text = with_limit(limit)}};
  const auto loaded = load(sources, options);
  return loaded ? "none" : to_string(loaded.error().front());
}

TEST(OurFields, StoresAndTiersThatDoNotExistAreMistakes) {
  EXPECT_THAT(mistake_in("{unit: hour, requests_per_unit: 7, tier: regional}"), HasSubstr("global or local"));
  EXPECT_THAT(mistake_in("{unit: hour, requests_per_unit: 7, on_store_failure: open}"),
              HasSubstr("error, allow, deny or local"));
  EXPECT_THAT(mistake_in("{unit: hour, requests_per_unit: 7, tier: local, store: big}"), HasSubstr("no meaning"));
  EXPECT_THAT(mistake_in("{unit: hour, requests_per_unit: 7, tier: local, on_store_failure: deny}"),
              HasSubstr("no meaning"));
  EXPECT_THAT(mistake_in("{unlimited: true, tier: local}"), HasSubstr("no meaning"));
  const LoadOptions known = {.stores = std::vector<std::string>{"big", "audit"}};
  EXPECT_EQ(mistake_in("{unit: hour, requests_per_unit: 7, store: big}", known), "none");
  EXPECT_THAT(mistake_in("{unit: hour, requests_per_unit: 7, store: bigg}", known), HasSubstr("big"));
  EXPECT_THAT(mistake_in("{unit: hour, requests_per_unit: 7, store: big}", {.stores = std::vector<std::string>{}}),
              HasSubstr("no stores are named"));
}

}  // namespace
}  // namespace penstock::rules
