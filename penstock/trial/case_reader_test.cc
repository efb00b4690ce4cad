#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/trial/cases.h"

namespace penstock::trial {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

std::string with_steps(const std::string& steps) {
  return "rules: [r.yaml]\ntests:\n  - name: t\n    steps:\n      " + steps + "\n";
}

std::vector<std::string> errors_of(const std::string& text) {
  const auto read = read_cases(text, "t.yaml");
  std::vector<std::string> errors;
  if (read) return errors;
  for (const Error& error : read.error()) errors.push_back(to_string(error));
  return errors;
}

Step step_of(const std::string& step) {
  const auto read = read_cases(with_steps("- " + step), "t.yaml");
  if (read) return read->tests.at(0).steps.at(0);
  ADD_FAILURE() << to_string(read.error().front());
  return {};
}

TEST(CaseReader, ReadsAWholeFile) {
  const auto read = read_cases(R"(
rules: [rules.yaml, more/]
merge_domains: true
quota_mode: yes
tests:
  - name: burst, then the rate
    start: 2025-06-01T12:00:00Z
    steps:
      - {domain: d, descriptors: [{api_key: k1, route: orders}], times: 11, expect: {ok: 10, over: 1}}
      - {at: 1.5s, descriptors: [{api_key: k1}, {path: ~}], hits: -2, expect: OK}
  - name: second
    steps:
      - {domain: e, descriptors: [{a: b}], expect: OVER_LIMIT}
)",
                               "t.yaml");
  ASSERT_TRUE(read) << to_string(read.error().front());
  EXPECT_EQ(read->rules.size(), 2u);
  EXPECT_TRUE(read->merge_domains && read->quota_mode && !read->shadow_mode);
  ASSERT_EQ(read->tests.size(), 2u);
  const Case& first = read->tests[0];
  EXPECT_EQ(first.start, kDefaultStart + std::chrono::hours{12});
  EXPECT_EQ(first.steps[0].times, 11u);
  EXPECT_EQ(first.steps[0].expected.over, 1u);
  EXPECT_EQ(first.steps[1].domain, "d") << "as the step above";
  EXPECT_EQ(first.steps[1].at, std::chrono::milliseconds{1500});
  EXPECT_TRUE(first.steps[1].refund);
  EXPECT_EQ(first.steps[1].hits, 2u);
  EXPECT_THAT(first.steps[1].descriptors[1].entries, ElementsAre(Pair("path", "")));
  EXPECT_EQ(read->tests[1].start, kDefaultStart);
  EXPECT_EQ(read->tests[1].steps[0].expected.code, limiter::Code::over_limit);
}

TEST(CaseReader, TakesDescriptorsWithMore) {
  const Step step = step_of(
      "{domain: d, expect: OK, descriptors: [{entries: [{k: a}, {k: b}], hits: 3, limit: {unit: hour, "
      "requests_per_unit: 5}}, {entries: plain}]}");
  EXPECT_THAT(step.descriptors.at(0).entries, ElementsAre(Pair("k", "a"), Pair("k", "b")));
  EXPECT_EQ(step.descriptors[0].hits, 3u);
  EXPECT_EQ(step.descriptors[0].limit->unit, 3);
  EXPECT_EQ(step.descriptors[0].limit->requests_per_unit, 5u);
  EXPECT_THAT(step.descriptors.at(1).entries, ElementsAre(Pair("entries", "plain"))) << "a key of that name";
}

TEST(CaseReader, NamesEveryMistakeWithItsPlace) {
  EXPECT_THAT(errors_of("rules: [r]\ntest: []"),
              ElementsAre(AllOf(StartsWith("t.yaml:2:1: "), HasSubstr("did you mean 'tests'?"))));
  EXPECT_THAT(errors_of("rules: [r]"), ElementsAre(HasSubstr("no 'tests'")));
  EXPECT_THAT(errors_of(""), ElementsAre(HasSubstr("the file is empty")));
  EXPECT_THAT(errors_of("[1]"), ElementsAre(HasSubstr("accepted is a mapping")));
  EXPECT_THAT(errors_of(with_steps("- {domain: d, descriptors: [{a: b}], expect: MAYBE}\n      - {at: 5, descriptors: "
                                   "x, expct: OK}")),
              ElementsAre(AllOf(StartsWith("t.yaml:5:52: "), HasSubstr("OK or OVER_LIMIT")),
                          AllOf(StartsWith("t.yaml:6:14: "), HasSubstr("'at' is '5'")),
                          HasSubstr("'descriptors' is 'x'"), HasSubstr("did you mean 'expect'?")));
  const std::vector<std::pair<std::string, std::string>> table = {
      {"- {descriptors: [{a: b}], expect: OK}", "without 'domain'"},
      {"- {domain: d, expect: OK}", "without 'descriptors'"},
      {"- {domain: d, descriptors: [{a: b}]}", "without 'expect'"},
      {"- {domain: d, descriptors: [{a: [b]}], expect: OK}", "'a' is a list"},
      {"- {domain: d, descriptors: [[{a: b, c: d}]], expect: OK}", "a list of mappings of one key"},
      {"- {domain: d, descriptors: [{a: b}], times: 0, expect: OK}", "'times' is '0'"},
      {"- {domain: d, descriptors: [{a: b}], hits: 1.5, expect: OK}", "'hits' is '1.5'"},
      {"- {domain: d, descriptors: [{a: b}], expect: {remaining: -1}}", "'remaining' is '-1'"},
      {"- {domain: d, descriptors: [{a: b}], expect: {reset: 1.5s}}", "whole seconds"},
      {"- {domain: d, descriptors: [{a: b}], expect: {statuses: [OK, OK]}}", "2 items for 1 descriptors"},
      {"- {domain: d, descriptors: [{a: b}], expect: {statuses: [{ok: 1}]}}", "unknown field 'ok'"},
      {"- {domain: d, descriptors: [{entries: {a: b}, limit: {unit: days}}], expect: OK}", "'unit' is 'days'"},
      {"- {domain: d, descriptors: [{a: b}], expect: OK, times: 1000000}\n      - {descriptors: [{a: b}], expect: OK}",
       "more than 1000000 times"},
      {"- {at: 2s, domain: d, descriptors: [{a: b}], expect: OK}\n      - {at: 1s, descriptors: [{a: b}], expect: OK}",
       "time does not go back"},
  };
  for (const auto& [steps, message] : table) EXPECT_THAT(errors_of(with_steps(steps)), ElementsAre(HasSubstr(message)));
}

}  // namespace
}  // namespace penstock::trial
