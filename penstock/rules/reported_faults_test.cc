// Faults that users of rate limiters reported, as far as they concern rule files and matching: each a statement about
// what happens here. The numbers are those of the project's list of reports.

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// BR-059
TEST(ReportedFaults, ADescriptorThatStandsTwiceIsRefusedAndNamed) {
  EXPECT_THAT(errors_of("domain: d24\ndescriptors:\n"
                        "  - {key: foo, rate_limit: {unit: minute, requests_per_unit: 3}}\n"
                        "  - {key: foo, rate_limit: {unit: day, requests_per_unit: 10}}\n"),
              ElementsAre(AllOf(HasSubstr("r.yaml:4:11: "), HasSubstr("'d24.foo' again, as in r.yaml:3:11"))));
}

// BR-061
TEST(ReportedFaults, ValuesKeepTheTextThatWasWritten) {
  for (const std::string text : {"313", "0123", "0x1F", "1_000", "true", "yes", "off", "2024-01-01", "12:30:45"}) {
    const auto rules = rules_of("domain: d\ndescriptors: [{key: k, value: " + text +
                                ", rate_limit: {unit: day, requests_per_unit: 1}}]");
    EXPECT_EQ(limit_of(*rules, "d", {{"k", text}}), "1/day") << text;
    EXPECT_EQ(limit_of(*rules, "d", {{"k", "other"}}), "none") << text;
  }
  for (const std::string text : {"1.5", "1e3", ".inf", "9223372036854775808"}) {
    EXPECT_THAT(errors_of("domain: d\ndescriptors: [{key: k, value: " + text + "}]"), SizeIs(1)) << text;
  }
}

// BR-061
TEST(ReportedFaults, CountsAreWholeNumbersInTheFormsOfYaml11) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"1_000", "1000/day"}, {"0x10", "16/day"}, {"010", "8/day"}, {"+5", "5/day"}, {"0b11", "3/day"}, {"~", "0/day"}};
  for (const auto& [text, limit] : table) {
    EXPECT_EQ(limit_of(*rules_of(with_limit("{unit: day, requests_per_unit: " + text + "}")), "d", {{"k", "v"}}),
              limit);
  }
  for (const std::string text : {"1.7", "1e3", "\"5\"", "-1", "4294967296", "1:30", "many"}) {
    EXPECT_THAT(errors_of(with_limit("{unit: day, requests_per_unit: " + text + "}")), SizeIs(1)) << text;
  }
  for (const std::string unit : {"minutes", "unknown", "3", "''"}) {
    EXPECT_THAT(errors_of(with_limit("{unit: " + unit + ", requests_per_unit: 1}")), SizeIs(1)) << unit;
  }
}

// BR-063
TEST(ReportedFaults, OptionsOutOfRangeAreRefusedWithWhatIsAccepted) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"requests_per_unit: -1", "whole number from 0 to 4294967295"},
      {"requests_per_unit: 1, unit_multiplier: 0", "whole number from 1"},
      {"requests_per_unit: 1, unit_multiplier: -1", "whole number from 1"},
      {"requests_per_unit: 1, algorithm: gcra, burst: 0", "whole number from 1 to 4294967295"},
      {"requests_per_unit: 1, algorithm: gcra, burst: -3", "whole number from 1"},
      {"requests_per_unit: 1, algorithm: gcra, burst: 1.7", "whole number from 1"},
      {"requests_per_unit: 1, algorithm: tokenbuckt", "did you mean 'token_bucket'?"},
      {"requests_per_unit: 1, algorithm: leaky_bucket, max_wait: -1s", "a whole number with its unit"},
      {"requests_per_unit: 1, window_offset: per_keys", "accepted is per_key"},
  };
  for (const auto& [fields, accepted] : table) {
    EXPECT_THAT(errors_of(with_limit("{unit: day, " + fields + "}")), ElementsAre(HasSubstr(accepted))) << fields;
  }
}

// BR-065
TEST(ReportedFaults, OneBadFileKeepsAllFilesOut) {
  const auto file = [](const std::string& key, int amount) {
    return fmt::format(
        "domain: d\ndescriptors:\n  - {{key: {}, rate_limit: {{unit: minute, requests_per_unit: {}}}}}\n", key, amount);
  };
  const auto load_all = [](const std::vector<std::string>& files, bool merge) {
    std::vector<Source> sources;
    for (const std::string& text : files)
      sources.push_back({.name = fmt::format("{}.yaml", sources.size()), .text = text});
    return load(sources, {.merge_domains = merge});
  };
  const auto merged = load_all({file("a", 10), file("b", 20)}, true);
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(limit_of(*merged->rules, "d", {{"a", ""}}), "10/minute");
  EXPECT_EQ(limit_of(*merged->rules, "d", {{"b", ""}}), "20/minute");
  EXPECT_THAT(texts(load_all({file("a", 10), file("b", 20)}, false).error()),
              ElementsAre(AllOf(HasSubstr("1.yaml:1:9"), HasSubstr("domain 'd' again"))));
  EXPECT_THAT(texts(load_all({file("a", 10), file("a", 20)}, true).error()), ElementsAre(HasSubstr("'d.a' again")));
  EXPECT_FALSE(load_all({file("a", 10), "domain: ["}, true).has_value());
}

std::pair<std::uint64_t, std::uint64_t> counter(const RuleSet& rules, std::string_view domain, const Entries& entries) {
  const Match match = match_in(rules, domain, entries);
  EXPECT_NE(match.rule, nullptr);
  const Hash128 hash = counter_of(match.counter, match.rule->limits.at(0));
  return {hash.low, hash.high};
}

// BR-071
TEST(ReportedFaults, CountersDoNotRunTogetherWhereJoinedTextsDo) {
  const std::string rules =
      "descriptors: [{key: a, rate_limit: {unit: minute, requests_per_unit: 2}}, {key: u, descriptors: "
      "[{key: v, rate_limit: {unit: minute, requests_per_unit: 2}}]}, {key: a_x, rate_limit: {unit: "
      "minute, requests_per_unit: 2}}]";
  const auto one = rules_of("domain: x\n" + rules);
  EXPECT_NE(counter(*one, "x", {{"a", "x_c"}}), counter(*one, "x", {{"a_x", "c"}}));
  EXPECT_NE(counter(*one, "x", {{"u", "a:b"}, {"v", "c"}}), counter(*one, "x", {{"u", "a"}, {"v", "b:c"}}));
  for (const std::string_view part :
       std::vector<std::string_view>{"_", ":", "|", ".", "\n", std::string_view{"\0", 1}, "\xC3\xBC"}) {
    const std::string left = fmt::format("a{}", part), right = fmt::format("{}b", part);
    EXPECT_NE(counter(*one, "x", {{"u", left}, {"v", "b"}}), counter(*one, "x", {{"u", "a"}, {"v", right}})) << part;
  }
  const auto first = rules_of("domain: x\ndescriptors: [{key: y_z, rate_limit: {unit: minute, requests_per_unit: 2}}]");
  const auto second =
      rules_of("domain: x_y\ndescriptors: [{key: z, rate_limit: {unit: minute, requests_per_unit: 2}}]");
  EXPECT_NE(counter(*first, "x", {{"y_z", "v"}}), counter(*second, "x_y", {{"z", "v"}}));
}

// BR-071: matching joins key and value, as the original does.
TEST(ReportedFaults, AKeyWithoutValueIsFoundByTheJoinedText) {
  const auto rules =
      rules_of("domain: d\ndescriptors: [{key: type_example, rate_limit: {unit: day, requests_per_unit: 1}}]");
  EXPECT_EQ(limit_of(*rules, "d", {{"type", "example"}}), "1/day");
}

// BR-075
TEST(ReportedFaults, StarsMayStandAnywhereAndPiecesDoNotOverlap) {
  const auto with = [](const std::string& pattern) {
    return rules_of("domain: d\ndescriptors: [{key: k, value: \"" + pattern +
                    "\", rate_limit: {unit: day, requests_per_unit: 1}}]");
  };
  const std::vector<std::tuple<std::string, std::vector<std::string>, std::vector<std::string>>> table = {
      {"bar*b", {"barb", "bar123b"}, {"bar123", "bara"}},
      {"foo*bar*baz", {"foobarbaz", "fooXbarYbaz"}, {"foobaz"}},
      {"ab*ba", {"abba", "abxba"}, {"aba"}},
      {"*", {"", "anything", "a/b"}, {}},
  };
  for (const auto& [pattern, matching, others] : table) {
    const auto rules = with(pattern);
    for (const std::string& value : matching) EXPECT_EQ(limit_of(*rules, "d", {{"k", value}}), "1/day") << value;
    for (const std::string& value : others) EXPECT_EQ(limit_of(*rules, "d", {{"k", value}}), "none") << value;
  }
  const auto ordered = rules_of(R"(
domain: d
descriptors:
  - {key: k, value: "/api/*", rate_limit: {unit: minute, requests_per_unit: 5}}
  - {key: k, value: "/api/v1*", rate_limit: {unit: minute, requests_per_unit: 100}}
  - {key: k, value: /api/v1/x, rate_limit: {unit: minute, requests_per_unit: 7}}
)");
  EXPECT_EQ(limit_of(*ordered, "d", {{"k", "/api/v1/y"}}), "5/minute") << "the first in file order";
  EXPECT_EQ(limit_of(*ordered, "d", {{"k", "/api/v1/x"}}), "7/minute") << "the exact one";
}

// BR-079
TEST(ReportedFaults, AwkwardNamesAreMatchedByteForByte) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"1rp10s__881b2a8e", "x"},          {"httproute/ns/name/rule/0/match/0", "a*b"},
      {"ip", "192.168.0.0/16"},           {"ip", "2001:db8::/32"},
      {"long", std::string(4096, 'v')},   {"quotes", "a'b\"c"},
      {"unicode", "\xC3\xBC\xE2\x82\xAC"}};
  std::string text = "domain: d\ndescriptors:\n";
  for (const auto& [key, value] : names) {
    std::string quoted = value;
    for (std::size_t at = quoted.find('\''); at != std::string::npos; at = quoted.find('\'', at + 2))
      quoted.insert(at, "'");
    text += fmt::format("  - {{key: {}, value: '{}', rate_limit: {{unit: day, requests_per_unit: 1}}}}\n", key, quoted);
  }
  const auto rules = rules_of(text);
  for (const auto& [key, value] : names) EXPECT_EQ(limit_of(*rules, "d", {{key, value}}), "1/day") << key;
}

}  // namespace
}  // namespace penstock::rules
