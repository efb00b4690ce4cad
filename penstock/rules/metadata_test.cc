// `metadata` of rules: what callers are given, and what under it is for us.

#include "penstock/rules/metadata.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/description.h"
#include "penstock/rules/metadata_reader.h"
#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// As JSON, with keys as they stand.
std::string show(const Metadata& metadata) {
  if (std::holds_alternative<std::nullptr_t>(metadata.value)) return "null";
  if (const bool* flag = std::get_if<bool>(&metadata.value)) return *flag ? "true" : "false";
  if (const double* number = std::get_if<double>(&metadata.value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&metadata.value)) return fmt::format("'{}'", *text);
  std::string out;
  if (const auto* list = std::get_if<Metadata::List>(&metadata.value)) {
    for (const Metadata& item : *list) out += (out.empty() ? "" : ",") + show(item);
    return "[" + out + "]";
  }
  for (const auto& [key, value] : std::get<Metadata::Map>(metadata.value)) {
    out += (out.empty() ? "" : ",") + key + ":" + show(value);
  }
  return "{" + out + "}";
}

std::string with_metadata(const std::string& metadata, const std::string& limit = "{unit: day, requests_per_unit: 2}") {
  return "domain: d\ndescriptors:\n  - key: k\n    rate_limit: " + limit + "\n    metadata: " + metadata + "\n";
}

std::string metadata_from(const std::string& text) {
  const std::shared_ptr<const RuleSet> rules = rules_of(with_metadata(text));
  const Rule& rule = only_rule(*rules);
  return rule.metadata == nullptr ? "none" : show(*rule.metadata);
}

TEST(Metadata, HasTheTypesThatTheOriginalMakesOfIt) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"{tier: gold, nested: {a: 1}, list: [1, two, {three: 3}]}",
       "{list:[1,'two',{three:3}],nested:{a:1},tier:'gold'}"},
      {"{number: 010, ratio: 1.5, no: off, nothing: ~, date: 2024-01-01, 5: five, text: \"5\"}",
       "{5:'five',date:'2024-01-01',no:false,nothing:null,number:8,ratio:1.5,text:'5'}"},
      {"{big: 18446744073709551615, huge: 1e30, hex: 0x1F, bits: 0b11, under: 1_000, minus: -5, plus: +2.5e1}",
       "{big:1.8446744073709552e+19,bits:3,hex:31,huge:1e+30,minus:-5,plus:25,under:1000}"},
      {"{yes: 1, true: 2, 010: 3}", "{010:3,true:2,yes:1}"},
      {"{a: 1, a: 2}", "{a:2}"},
      {"{<<: {a: 1, b: 2}, b: 3}", "{a:1,b:3}"},
      {"{raw: !!binary aGk=}", "{raw:'hi'}"},
      {"{}", "none"},
      {"~", "none"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(metadata_from(text), expected) << text;
}

TEST(Metadata, ThatIsNoNumberInJsonIsNullWithAWarning) {
  const std::string text = with_metadata("{a: .nan, b: -.inf}");
  EXPECT_EQ(show(*only_rule(*rules_of(text)).metadata), "{a:null,b:null}");
  EXPECT_THAT(warnings_of(text), ElementsAre(HasSubstr("'.nan'"), HasSubstr("'-.inf'")));
}

TEST(Metadata, IsBounded) {
  std::string values, texts;
  for (std::size_t i = 0; i <= kMaxMetadataValues; ++i) values += fmt::format("{}1", i == 0 ? "" : ",");
  EXPECT_THAT(errors_of(with_metadata("{list: [" + values + "]}")), ElementsAre(HasSubstr("more than 1000 values")));
  texts.assign(kMaxMetadataTextBytes, 'x');
  EXPECT_THAT(errors_of(with_metadata("{text: " + texts + "}")), ElementsAre(HasSubstr("more than 65536 bytes")));
  EXPECT_THAT(errors_of(with_metadata("{text: !!binary /w==}")), ElementsAre(HasSubstr("no UTF-8")));
  EXPECT_THAT(errors_of(with_metadata("[a]")), ElementsAre(HasSubstr("accepted is a mapping")));
}

TEST(Metadata, OfSeveralRulesIsJoinedWithTheFirstOneWinning) {
  const auto joined = [](const std::string& a, const std::string& b) {
    Metadata into = *only_rule(*rules_of(with_metadata(a))).metadata;
    const Metadata from = *only_rule(*rules_of(with_metadata(b))).metadata;
    merge_into(into, from);
    return show(into);
  };
  EXPECT_EQ(joined("{tier: gold, n: {a: 1}}", "{tier: silver, extra: 1, n: {a: 9, b: 2}}"),
            "{extra:1,n:{a:1,b:2},tier:'gold'}");
  EXPECT_EQ(joined("{n: text}", "{n: {a: 1}}"), "{n:'text'}");
  EXPECT_EQ(joined("{n: {a: 1}}", "{n: [1]}"), "{n:{a:1}}");
  EXPECT_EQ(joined("{n: [1]}", "{n: [2]}"), "{n:[1]}");
}

TEST(OurMetadata, ChangesTheLimitBesideItAndIsKeptFromCallers) {
  const std::string text = with_metadata("{tier: gold, penstock: {algorithm: gcra, burst: 5}}",
                                         "{unit: minute, requests_per_unit: 60, name: n}");
  const std::shared_ptr<const RuleSet> rules = rules_of(text);
  const Rule& rule = only_rule(*rules);
  EXPECT_EQ(describe_limit(rule.limits.at(0)), "60 per minute, gcra, burst 5");
  EXPECT_EQ(rule.name, "n");
  EXPECT_EQ(show(*rule.metadata), "{tier:'gold'}");
}

TEST(OurMetadata, WinsOverInlineFieldsOneByOne) {
  const std::string text = with_metadata("{penstock: {burst: 7, peak: {unit: second, requests_per_unit: 2}}}",
                                         "{unit: minute, requests_per_unit: 60, algorithm: token_bucket, burst: 5}");
  EXPECT_EQ(describe_limit(only_rule(*rules_of(text)).limits.at(0)),
            "60 per minute, token_bucket, burst 7, peak 2 per second with burst 2");
}

TEST(OurMetadata, ReplacesTheLimitByAList) {
  const std::string text = with_metadata(
      "{penstock: {rate_limits: [{unit: second, requests_per_unit: 1, algorithm: gcra}, {unit: day, requests_per_unit: "
      "9}]}}",
      "{unit: minute, requests_per_unit: 60, name: n, replaces: [{name: m}]}");
  const std::shared_ptr<const RuleSet> rules = rules_of(text);
  const Rule& rule = only_rule(*rules);
  EXPECT_THAT(rule.limit_texts, ElementsAre("1 per second, gcra, burst 1", "9 per day, fixed_window"));
  EXPECT_EQ(rule.name, "n");
  EXPECT_THAT(rule.replaces, ElementsAre("m"));
  EXPECT_EQ(rule.metadata, nullptr);
}

TEST(OurMetadata, StandsAloneWithAList) {
  const std::string text = with_fields("metadata: {penstock: {rate_limits: [{unit: day, requests_per_unit: 9}]}}");
  EXPECT_THAT(only_rule(*rules_of(text)).limit_texts, ElementsAre("9 per day, fixed_window"));
}

TEST(OurMetadata, IsRefusedWithItsPlace) {
  const auto in = [](const std::string& ours) { return with_metadata("{penstock: " + ours + "}"); };
  expect_refused({
      {in("{algoritm: gcra}"),
       "5:27",
       {"unknown field 'algoritm'", "did you mean 'algorithm'?", "'penstock' of metadata"}},
      {in("{algorithm: gcra, burst: 0}"), "5:51", {"'burst' is '0'", "1 to 4294967295"}},
      {in("{unit: day}"), "5:27", {"'unit' has no place in 'penstock' of metadata", "it belongs in rate_limit"}},
      {in("[1]"), "5:26", {"'penstock' of metadata is a list", "accepted is a mapping"}},
      {in("{burst: 3}"), "5:34", {"'burst' has no meaning for fixed_window"}},
      {in("{rate_limits: []}"), "5:40", {"'rate_limits' has 0 limits"}},
      {with_fields("metadata: {penstock: {algorithm: gcra}}"), "4:26", {"no 'rate_limit'"}},
  });
}

TEST(Labels, NameRulesWithTheirValuesHashed) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - key: api_key
    value: secret
    descriptors:
      - {key: route, rate_limit: {unit: day, requests_per_unit: 2}}
      - {key: path, value: "*", rate_limit: {unlimited: true}}
)");
  EXPECT_EQ(rules->rules()[0]->label, "d.api_key_2bb80d53.route") << "printf %s secret | sha256sum";
  EXPECT_EQ(rules->rules()[1]->label, "d.api_key_2bb80d53.path_*");
  EXPECT_THAT(rules->rules()[1]->limit_texts, IsEmpty());
}

TEST(AllOrNothing, BelongsToADomainAndItsFilesMustAgree) {
  const auto of = [](const std::string& flag) { return "domain: d\n" + flag; };
  EXPECT_FALSE(rules_of(of(""))->is_all_or_nothing(*rules_of(of(""))->domain("d")));
  const std::shared_ptr<const RuleSet> rules = rules_of(of("all_or_nothing: true"));
  EXPECT_TRUE(rules->is_all_or_nothing(*rules->domain("d")));
  const auto both = [&](const std::string& a, const std::string& b) {
    const std::vector<Source> sources{{.name = "a.yaml", .text = of(a)}, {.name = "b.yaml", .text = of(b)}};
    return load(sources, {.merge_domains = true});
  };
  const auto merged = both("all_or_nothing: true", "");
  ASSERT_TRUE(merged.has_value());
  EXPECT_TRUE(merged->rules->is_all_or_nothing(*merged->rules->domain("d")));
  const auto clash = both("all_or_nothing: true", "all_or_nothing: false");
  ASSERT_FALSE(clash.has_value());
  EXPECT_THAT(texts(clash.error()), ElementsAre(AllOf(StartsWith("b.yaml:2:17: "), HasSubstr("true in a.yaml:2:17"))));
}

TEST(FilesOfOneDomain, AreTakenInTheOrderOfTheirNames) {
  const auto with = [](const std::string& value, int amount) {
    return fmt::format(
        "domain: d\ndescriptors:\n  - {{key: k, value: \"{}\", rate_limit: {{unit: day, requests_per_unit: "
        "{}}}}}\n",
        value, amount);
  };
  const std::vector<Source> one{{.name = "b.yaml", .text = with("x*", 2)}, {.name = "a.yaml", .text = with("*y", 1)}};
  const auto loaded = load(one, {.merge_domains = true});
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(limit_of(*loaded->rules, "d", {{"k", "xy"}}), "1/day");
}

}  // namespace
}  // namespace penstock::rules
