#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(RuleFile, KeepsEverythingThatALimitIsToldWith) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - key: k
    value: v
    shadow_mode: true
    quota_mode: on
    detailed_metric: yes
    metadata: {any: [thing, {1: 2.5}]}
    rate_limit:
      unit: Week
      requests_per_unit: 7
      name: me
      replaces: [{name: you}, {name: them}]
)");
  const Rule& rule = only_rule(*rules);
  EXPECT_EQ(rule.path, "d.k_v");
  EXPECT_EQ(rule.name, "me");
  EXPECT_THAT(rule.replaces, ElementsAre("you", "them"));
  EXPECT_TRUE(rule.shadow_mode);
  EXPECT_TRUE(rule.quota_mode);
  EXPECT_TRUE(rule.detailed_metric);
  EXPECT_EQ(rule.place, (Place{.file = "r.yaml", .line = 4, .column = 10}));
  ASSERT_THAT(rule.limits, SizeIs(1));
  EXPECT_EQ(rule.limits[0].unit, Unit::week);
  EXPECT_EQ(rule.limits[0].limit, algorithm::Limit::original_window(7, 7 * 86'400));
  EXPECT_FALSE(rule.limits[0].from_list);
}

TEST(RuleFile, TakesEveryUnitInAnyCase) {
  const std::vector<std::pair<std::string, std::int64_t>> table{
      {"second", 1},        {"MINUTE", 60},       {"Hour", 3600},       {"day", 86'400},
      {"week", 7 * 86'400}, {"moNth", 2'592'000}, {"YEAR", 31'536'000},
  };
  for (const auto& [unit, seconds] : table) {
    const std::shared_ptr<const RuleSet> rules = rules_of(with_limit("{unit: " + unit + ", requests_per_unit: 1}"));
    EXPECT_EQ(only_rule(*rules).limits.at(0).limit.window_seconds(), seconds) << unit;
  }
}

TEST(RuleFile, NumbersRulesInTheOrderOfTheSources) {
  const Source sources[]{
      {.name = "a", .text = "{domain: a, descriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 1}}]}"},
      {.name = "b", .text = "{domain: b, descriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 2}}]}"},
  };
  const ResultOrAll<Loaded> loaded = load(sources, {});
  ASSERT_TRUE(loaded.has_value());
  ASSERT_THAT(loaded->rules->rules(), SizeIs(2));
  for (std::uint32_t i = 0; i < 2; ++i) EXPECT_EQ(loaded->rules->rules()[i]->index, i);
  EXPECT_THAT(loaded->rules->domain_names(), ElementsAre("a", "b"));
}

TEST(RuleFile, MergesTheTopLevelOfOneDomainAndRefusesTheSameDescriptorTwice) {
  const Source one{.name = "one", .text = "{domain: d, descriptors: [{key: k, descriptors: [{key: a}]}]}"};
  const Source two{.name = "two", .text = "{domain: d, descriptors: [{key: j}]}"};
  const Source again{.name = "again", .text = "{domain: d, descriptors: [{key: k, descriptors: [{key: b}]}]}"};
  EXPECT_TRUE(load(std::vector{one, two}, {.merge_domains = true}).has_value());

  const ResultOrAll<Loaded> twice = load(std::vector{one, again}, {.merge_domains = true});
  ASSERT_FALSE(twice.has_value());
  EXPECT_THAT(texts(twice.error()), ElementsAre(AllOf(HasSubstr("again:1:"), HasSubstr("'d.k'"), HasSubstr("one:1:"))));

  const ResultOrAll<Loaded> apart = load(std::vector{one, two}, {});
  ASSERT_FALSE(apart.has_value());
  EXPECT_THAT(texts(apart.error()), ElementsAre(AllOf(HasSubstr("two:1:"), HasSubstr("'d'"), HasSubstr("one:1:"))));
}

TEST(RuleFile, ReadsScalarsAsYaml11Does) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: 12
descriptors:
  - {key: yes, rate_limit: {unit: day, requests_per_unit: 0b11}}
  - {key: 2024-01-01, value: 12:30:45, rate_limit: {unit: day, requests_per_unit: +5}}
  - {key: 0x1F, value: 1_000, rate_limit: {unit: day, requests_per_unit: 0o10}}
  - {key: k, value: !!binary aGk=, rate_limit: {unit: day, requests_per_unit: !!int "9"}}
  - {key: n, value: null, rate_limit: {unit: day, requests_per_unit: ~}, shadow_mode: ~, descriptors: null}
)");
  EXPECT_EQ(limit_of(*rules, "12", {{"yes", ""}}), "3/day");
  EXPECT_EQ(limit_of(*rules, "12", {{"2024-01-01", "12:30:45"}}), "5/day");
  EXPECT_EQ(limit_of(*rules, "12", {{"0x1F", "1_000"}}), "8/day");
  EXPECT_EQ(limit_of(*rules, "12", {{"k", "hi"}}), "9/day");
  EXPECT_EQ(limit_of(*rules, "12", {{"n", "x"}}), "0/day");
}

TEST(RuleFile, AddsUpMergedRateLimitsAsTheOriginalDoes) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - &base {key: a, rate_limit: {unit: day, requests_per_unit: 1}}
  - {<<: *base, key: b, rate_limit: {requests_per_unit: 2}}
)");
  EXPECT_EQ(limit_of(*rules, "d", {{"a", ""}}), "1/day");
  EXPECT_EQ(limit_of(*rules, "d", {{"b", ""}}), "2/day");
}

TEST(RuleFile, NamesPlaceValueAndWhatWouldBeAccepted) {
  expect_refused({
      {with_fields("ratelimit: {}"), "4:5", {"'ratelimit'", "did you mean 'rate_limit'?", "accepted: key, value"}},
      {with_fields("quality: {}"), "4:5", {"unknown field 'quality'", "accepted: key, value"}},
      {with_limit("{unit: day, requestsperunit: 5}"), "4:29", {"did you mean 'requests_per_unit'?"}},
      {with_limit("{unit: minutes, requests_per_unit: 5}"), "4:24", {"'minutes'", "'minute'", "second, minute, hour"}},
      {with_limit("{unit: unknown, requests_per_unit: 5}"), "4:24", {"'unknown'", "accepted: second"}},
      {with_limit("{requests_per_unit: 5}"), "4:17", {"without 'unit'", "accepted: second"}},
      {with_limit("{unit: day, requests_per_unit: 1.7}"), "4:48", {"'1.7'", "from 0 to 4294967295"}},
      {with_limit("{unit: day, requests_per_unit: 1e3}"), "4:48", {"'1e3'"}},
      {with_limit("{unit: day, requests_per_unit: -1}"), "4:48", {"'-1'", "from 0 to"}},
      {with_limit("{unit: day, requests_per_unit: 4294967296}"), "4:48", {"'4294967296'"}},
      {with_limit("{unit: day, requests_per_unit: 99999999999999999999}"), "4:48", {"'99999999999999999999'"}},
      {with_limit("{unit: day, requests_per_unit: \"5\"}"), "4:48", {"'5', a text", "without quotes"}},
      {with_limit("{unit: day, requests_per_unit: [5]}"), "4:48", {"a list"}},
      {with_limit("{unit: day, requests_per_unit: 1:30}"), "4:48", {"'1:30', a text"}},
      {with_limit("{unlimited: true, unit: day}"), "4:41", {"'day'", "'unlimited: true'"}},
      {with_limit("{unlimited: 1}"), "4:29", {"'1', an integer", "true and false"}},
      {with_limit("{unit: day, name: n, replaces: [{name: n}]}"), "4:56", {"'n' replaces itself"}},
      {with_limit("{unit: day, replaces: [{name: ''}]}"), "4:47", {"without 'name'"}},
      {with_limit("{unit: day, replaces: [{}]}"), "4:40", {"without 'name'"}},
      {with_limit("{unit: day, replaces: [x]}"), "4:40", {"'x', a text", "mappings"}},
      {with_limit("5"), "4:17", {"'5', an integer", "a mapping with unit"}},
      {with_limit("''"), "4:17", {"a text", "a mapping with unit"}},
      {with_fields("shadow_mode: \"true\""), "4:18", {"'true', a text", "true and false, without quotes"}},
      {with_fields("shadow_mode: oN"), "4:18", {"'oN'"}},
      {with_fields("value: 1.5"), "4:12", {"'1.5'", "put it in quotes"}},
      {with_fields("value: .inf"), "4:12", {"'.inf'"}},
      {with_fields("value: 9223372036854775808"), "4:12", {"'9223372036854775808'"}},
      {with_fields("value: [a]"), "4:12", {"a list", "a text"}},
      {with_fields("share_threshold: true"), "4:22", {"'share_threshold' on 'k'", "'*'"}},
      {with_fields("metadata: [a]"), "4:15", {"'metadata' is a list", "a mapping"}},
      {with_fields("1: 2"), "4:5", {"the name of a field is '1', an integer"}},
      {with_fields("yes: 2"), "4:5", {"'yes', a boolean"}},
      {with_fields("? [a, b]\n    : c"), "4:7", {"the name of a field is a list"}},
      {with_fields("descriptors: [{value: v}]"), "4:19", {"without 'key'"}},
      {with_fields("descriptors: [~]"), "4:19", {"null in 'descriptors'", "mappings"}},
      {with_fields("descriptors: {key: k}"), "4:18", {"a mapping", "a list of mappings"}},
      {"domain: d\ndescriptors: [{key: a, value: b}, {key: a_b}]", "2:41", {"'d.a_b'", "r.yaml:2:21", "joined by '_'"}},
      {"domain: ''", "1:9", {"no domain"}},
      {"domain: ~", "1:9", {"no domain"}},
      {"descriptors: []", "1:1", {"no domain"}},
      {"", "1:1", {"no domain"}},
      {"[a]", "1:1", {"the file is a list", "a mapping with domain, descriptors"}},
      {"hello", "1:1", {"'hello', a text"}},
      {"domain: d\nfoo: [}", "2:7", {"not YAML"}},
      {"domain: d\nx: \x01", "2:4", {"not YAML", "control characters"}},
  });
}

TEST(RuleFile, TellsAllMistakesOfAllSourcesInTheirOrder) {
  const Source sources[]{
      {.name = "a",
       .text =
           "domain: a\ndescriptors:\n  - key: k\n    valu: v\n    rate_limit: {unit: dya, burst: 0}\n  - value: v\n"},
      {.name = "b", .text = "domain: [\n"},
      {.name = "c", .text = "domain: c\ndescriptors:\n  - key: k\n  - key: k\n"},
  };
  const ResultOrAll<Loaded> loaded = load(sources, {});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(texts(loaded.error()),
              ElementsAre(HasSubstr("a:4:5: unknown field 'valu'"), HasSubstr("a:5:24: unknown unit 'dya'"),
                          HasSubstr("a:5:36: 'burst' is '0'"), HasSubstr("a:6:5: a descriptor without 'key'"),
                          HasSubstr("b:2:1: not YAML"), HasSubstr("c:4:10: descriptor 'c.k' again")));
}

TEST(RuleFile, OneMistypedNameIsOneError) {
  EXPECT_THAT(errors_of("domain: d\ndescriptors: [{Key: k}]"), SizeIs(1));
  EXPECT_THAT(errors_of("Domain: d"), SizeIs(1));
  EXPECT_THAT(errors_of(with_limit("{units: day, requests_per_unit: 1}")), SizeIs(1));
  EXPECT_THAT(errors_of(with_limit("{unit: day, request_per_unit: 1, algorithm: gcra}")), SizeIs(1));
}

TEST(RuleFile, WarnsOfKnownFieldsInPlacesWhereTheyDoNothing) {
  struct Case {
    std::string text;
    std::string warning;
  };
  const std::string fine = "{unit: day, requests_per_unit: 1";
  const std::vector<Case> table{
      {"name: x\ndomain: d", "1:1: 'name' has no place in the file's root; it belongs in rate_limit"},
      {with_fields("unit: day"), "4:5: 'unit' has no place in a descriptor"},
      {with_limit(fine + ", shadow_mode: true}"), "4:51: 'shadow_mode' has no place in rate_limit"},
      {with_fields("shadow_mode: true"), "'shadow_mode' does nothing on a descriptor without a limit"},
      {with_fields("value: "), "'value' is empty"},
      {with_fields("value: |\n      abc"), "line break"},
      {with_fields("value: a\n    value: b"), "4:5: 'value' is given twice; the later one, in line 5"},
      {with_limit("{unit: day}"), "refuses every hit"},
      {with_limit("{unit: day, requests_per_unit: 010}"), "'requests_per_unit: 010' is read as 8"},
      {with_limit("{unlimited: true, unit: sometimes}"), "'sometimes'"},
      {"domain: d\ndescriptors: [{key: 'a*'}]", "key 'a*' has a star"},
      {"domain: d\n---\ndomain: e", "only the first"},
  };
  for (const Case& c : table) EXPECT_THAT(warnings_of(c.text), ElementsAre(HasSubstr(c.warning))) << c.text;
  EXPECT_THAT(warnings_of(with_limit(fine + "}")), IsEmpty());
}

TEST(RuleFile, ChecksWhatItIgnoresAsTheOriginalDoes) {
  EXPECT_THAT(errors_of(with_limit("{unit: day, descriptors: [{key: 1.5}]}")), ElementsAre(HasSubstr("'1.5'")));
  EXPECT_THAT(errors_of(with_limit("{unit: day, descriptors: [x]}")), ElementsAre(HasSubstr("'x'")));
  EXPECT_THAT(errors_of(with_limit("{unit: day, descriptors: [{kee: x}]}")), ElementsAre(HasSubstr("'kee'")));
  EXPECT_THAT(errors_of(with_limit("{unit: day, metadata: [x, {kee: 1.5}]}")), IsEmpty());
}

}  // namespace
}  // namespace penstock::rules
