#include "penstock/trial/case_runner.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::trial {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRules = R"(domain: d
descriptors:
  - key: smooth
    rate_limit: {unit: second, requests_per_unit: 10, algorithm: gcra, burst: 20}
  - key: window
    rate_limit: {name: w, unit: minute, requests_per_unit: 2}
  - key: free
    rate_limit: {unlimited: true}
)";

std::vector<Difference> differences(const std::string& steps, const std::string& settings = "") {
  const rules::Source source{.name = "r.yaml", .text = kRules};
  const auto rules = rules::load({&source, 1}, {});
  const auto file = read_cases("rules: [r.yaml]\n" + settings + "tests:\n  - name: t\n    steps:\n" + steps, "t.yaml");
  if (!rules || !file) {
    ADD_FAILURE() << to_string((rules ? file.error() : rules.error()).front());
    return {};
  }
  const auto outcome = run_case(*file, file->tests[0], rules->rules);
  EXPECT_TRUE(outcome);
  return outcome ? outcome->differences : std::vector<Difference>{};
}

TEST(CaseRunner, PassesWhatIsAsExpected) {
  EXPECT_THAT(differences(R"(
      - {domain: d, descriptors: [{smooth: a}], times: 25, expect: {ok: 20, over: 5, code: OVER_LIMIT, remaining: 0,
         retry_after: 0.1s, reset: 1s, limit: d.smooth}}
      - {at: 0.1s, descriptors: [{smooth: a}], expect: OK}
      - {at: 0.1s, descriptors: [{smooth: a}], expect: {code: OVER_LIMIT, retry_after: 100ms}}
      - {at: 1h, descriptors: [{smooth: a}], hits: 20, expect: {code: OK, remaining: 0, retry_after: 0}}
      - {at: 1h, descriptors: [{smooth: a}], hits: -5, expect: {remaining: 5}}
      - {at: 1h, descriptors: [{smooth: a}], hits: 0, expect: {remaining: 5}}
      - {at: 1h, descriptors: [{smooth: a}], hits: 21, expect: {code: OVER_LIMIT}}
      - at: 1h
        descriptors: [{window: x}, {free: y}, {other: z}]
        times: 3
        expect:
          ok: 2
          limit: w
          statuses: [{code: OVER_LIMIT, remaining: 0, reset: 1m, limit: d.window}, {limit: d.free}, {limit: none}]
)"),
              IsEmpty());
}

TEST(CaseRunner, SaysWhatWasExpectedWhatCameAndWhy) {
  const std::vector<Difference> found = differences(R"(
      - {domain: d, descriptors: [{window: x}], times: 3, expect: OK}
)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(to_string(found[0].place), "t.yaml:6:67");
  EXPECT_EQ(found[0].step, 1u);
  EXPECT_EQ(found[0].what, "code: expected OK, got OVER_LIMIT");
  EXPECT_THAT(found[0].why, AllOf(HasSubstr("rule 'd.window' (r.yaml:5:10)"), HasSubstr("2 per minute, fixed_window"),
                                  HasSubstr("0 left, passes in 1m")));
}

TEST(CaseRunner, ReportsEveryFieldThatDiffers) {
  const std::vector<Difference> found = differences(R"(
      - {domain: d, descriptors: [{smooth: x}], hits: 30, expect: {code: OK, remaining: 3, retry_after: 2s, reset: 1s,
         limit: d.window, ok: 1}}
)");
  std::vector<std::string> what;
  for (const Difference& each : found) what.push_back(each.what);
  EXPECT_THAT(what, ElementsAre("code: expected OK, got OVER_LIMIT", "ok: expected 1, got 0",
                                "remaining: expected 3, got 20", "retry_after: expected 2s, got never",
                                "reset: expected 1s, got none", "limit: expected d.window, got d.smooth"));
  EXPECT_THAT(found[0].why, HasSubstr("never passes"));
}

TEST(CaseRunner, TakesModesAndOverrides) {
  EXPECT_THAT(differences(R"(
      - {domain: d, descriptors: [{entries: {window: x}, limit: {unit: day, requests_per_unit: 1}}], times: 2,
         expect: {ok: 2, limit: override, statuses: [OVER_LIMIT]}}
)",
                          "shadow_mode: true\n"),
              IsEmpty());
}

TEST(CaseRunner, GivesEachTestCountersOfItsOwnAndKeepsFewDifferences) {
  std::string steps;
  for (int i = 0; i < 50; ++i) steps += "      - {domain: d, descriptors: [{window: x}], hits: 9, expect: OK}\n";
  EXPECT_EQ(differences(steps).size(), kMaxDifferences);
  EXPECT_THAT(differences("      - {domain: d, descriptors: [{window: x}], expect: {remaining: 1}}\n"), IsEmpty());
}

TEST(CaseRunner, TellsErrorsOfTheService) {
  const std::vector<Difference> found =
      differences("      - {domain: d, descriptors: [{entries: {a: b}, limit: {requests_per_unit: 1}}], expect: OK}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].what, HasSubstr("unknown unit 0"));
}

}  // namespace
}  // namespace penstock::trial
