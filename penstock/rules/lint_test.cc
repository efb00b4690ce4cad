// Warnings for what loads but is not meant: each with a neighbour that is fine.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kLimit = "rate_limit: {unit: day, requests_per_unit: 5}";

// A file with these descriptors, one a line, each with a limit unless it has its own.
std::string file_of(const std::vector<std::string>& descriptors) {
  std::string text = "domain: d\ndescriptors:\n";
  for (const std::string& descriptor : descriptors) {
    const bool whole = descriptor.find("rate_limit") != std::string::npos || descriptor.ends_with("nothing");
    text += "  - {" + (whole ? descriptor : descriptor + ", " + kLimit) + "}\n";
  }
  return text;
}

struct Row {
  std::vector<std::string> descriptors;
  std::string warning;  // empty: none
};

void expect_warnings(const std::vector<Row>& table) {
  for (const Row& row : table) {
    const std::vector<std::string> warnings = warnings_of(file_of(row.descriptors));
    if (row.warning.empty()) {
      EXPECT_THAT(warnings, IsEmpty()) << row.descriptors.front();
    } else {
      EXPECT_THAT(warnings, ElementsAre(HasSubstr(row.warning))) << row.descriptors.front();
    }
  }
}

TEST(Lint, FindsRulesThatCanNeverMatch) {
  expect_warnings({
      {{"key: path, value: '/api/*'", "key: path, value: '/api/v1*'"},
       "r.yaml:4:11: 'd.path_/api/v1*' can never match: 'path_/api/*' in r.yaml:3:11"},
      {{"key: path, value: '/api/v1*'", "key: path, value: '/api/*'"}, ""},
      {{"key: path, value: '*'", "key: path, value: '/x*y'"}, "'d.path_/x*y' can never match"},
      {{"key: path, value: '*a*'", "key: path, value: 'x*a*b'"}, "'d.path_x*a*b' can never match"},
      {{"key: path, value: '*a*'", "key: path, value: 'x*b'"}, ""},
      {{"key: path, value: '*'", "key: path"}, "'d.path' can never match: 'path_*'"},
      {{"key: path", "key: path, value: '*'"}, "'d.path' can never match: 'path_*'"},
      {{"key: path, value: '/*'", "key: path"}, ""},
      {{"key: path, value: '*'", "key: path, value: exact"}, ""},
      {{"key: path, value: '*'", "key: path_x"}, ""},
  });
}

TEST(Lint, FindsRulesThatCanNeverMatchAmongManyPatterns) {
  std::vector<std::string> descriptors;
  for (int i = 0; i < 50; ++i) descriptors.push_back(fmt::format("key: path, value: '/{}/*'", i));
  descriptors.push_back("key: path, value: '/7/x*'");
  EXPECT_THAT(warnings_of(file_of(descriptors)), ElementsAre(HasSubstr("'path_/7/*' in r.yaml:10:11")));
}

TEST(Lint, FindsFieldsThatDoNothing) {
  const std::string unlimited = "key: a, rate_limit: {unlimited: true}, ";
  expect_warnings({
      {{unlimited + "shadow_mode: true"}, "'shadow_mode' does nothing beside 'unlimited: true'"},
      {{unlimited + "quota_mode: true"}, "'quota_mode' does nothing"},
      {{unlimited + "detailed_metric: true"}, "'detailed_metric' does nothing"},
      {{unlimited + "metadata: {a: 1}"}, "'metadata' does nothing beside"},
      {{unlimited + "shadow_mode: false"}, ""},
      {{"key: a, value: b, value_to_metric: true"}, "'value_to_metric' does nothing on a descriptor with one value"},
      {{"key: a, value_to_metric: true"}, ""},
      {{"key: a, value: 'b*', value_to_metric: true"}, ""},
      {{"key: a, value: 'b*', value_to_metric: true, share_threshold: true"}, "beside 'share_threshold'"},
      {{"key: a, value: 'b*', share_threshold: true"}, ""},
      {{"key: a, value: 'b ', shadow_mode: true"}, "with a blank at its end"},
      {{"key: a, value: 'b c'"}, ""},
  });
  EXPECT_THAT(warnings_of("domain: d\ndescriptors: [{key: a, metadata: {b: c}, descriptors: []}]"),
              ElementsAre(HasSubstr("'metadata' does nothing on a descriptor without a limit")));
  EXPECT_THAT(warnings_of(file_of({"key: 'a*', share_threshold: true"})),
              ::testing::Contains(HasSubstr("'share_threshold' does nothing for a star in the key")));
}

TEST(Lint, FindsNamesInReplacesThatNoLimitHas) {
  expect_warnings({
      {{"key: a, rate_limit: {unit: day, requests_per_unit: 1, replaces: [{name: nobody}]}"},
       "'replaces' names 'nobody', but no limit of domain 'd' has that name"},
      {{"key: a, rate_limit: {unit: day, requests_per_unit: 1, replaces: [{name: b}]}",
        "key: b, rate_limit: {name: b, unit: day, requests_per_unit: 1}"},
       ""},
  });
}

TEST(Lint, WarnsOfABurstThatIsAWholeHoursWorthByDefault) {
  const auto limit = [](const std::string& text) { return with_limit("{" + text + "}"); };
  EXPECT_THAT(
      warnings_of(limit("unit: hour, requests_per_unit: 6000, algorithm: gcra")),
      ElementsAre(HasSubstr("all 6000 may come at once after a pause; 'burst: 100' would be a minute's worth")));
  EXPECT_THAT(warnings_of(limit("unit: minute, unit_multiplier: 60, requests_per_unit: 5, algorithm: token_bucket")),
              ElementsAre(HasSubstr("'burst: 1' would be")));
  for (const char* fine : {"unit: hour, requests_per_unit: 6000, algorithm: gcra, burst: 6000",
                           "unit: minute, requests_per_unit: 6000, algorithm: gcra",
                           "unit: hour, requests_per_unit: 6000", "unit: hour, requests_per_unit: 1, algorithm: gcra",
                           "unit: day, requests_per_unit: 6000, algorithm: sliding_window"}) {
    EXPECT_THAT(warnings_of(limit(fine)), IsEmpty()) << fine;
  }
  EXPECT_THAT(warnings_of(with_fields("rate_limits: [{unit: day, requests_per_unit: 9, algorithm: leaky_bucket}]")),
              ElementsAre(HasSubstr("all 9 may come at once")));
}

TEST(Lint, WarnsWhereTheOrderOfFilesDecidesBetweenWildcards) {
  const auto both = [](const std::string& a, const std::string& b) {
    const std::vector<Source> sources{{.name = "a.yaml", .text = file_of({a})},
                                      {.name = "b.yaml", .text = file_of({b})}};
    const auto loaded = load(sources, {.merge_domains = true});
    return loaded ? texts(loaded->warnings) : texts(loaded.error());
  };
  EXPECT_THAT(both("key: k, value: 'x*'", "key: k, value: '*y'"),
              ElementsAre(HasSubstr("the patterns 'k_*y' here and 'k_x*' in a.yaml:3:11")));
  EXPECT_THAT(both("key: k, value: 'x*'", "key: k, value: 'y*'"), IsEmpty());
  EXPECT_THAT(both("key: k, value: '*x'", "key: k, value: '*y'"), IsEmpty());
}

}  // namespace
}  // namespace penstock::rules
