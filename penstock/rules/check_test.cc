// What `penstock check` tells of rules: what a limit lets through at worst, manifests, and what changes.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/difference.h"
#include "penstock/rules/limit_facts.h"
#include "penstock/rules/manifest.h"
#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::uint64_t worst_of(const std::string& limit) {
  return worst_burst(only_rule(*rules_of(with_limit("{" + limit + "}"))).limits.at(0)).amount;
}

// The bounds of docs/algorithms.md; tests of `algorithm` drive the algorithms to them.
TEST(WorstBurst, IsTheBoundOfTheAlgorithm) {
  EXPECT_EQ(worst_of("unit: minute, requests_per_unit: 10"), 20u);
  EXPECT_EQ(worst_of("unit: minute, requests_per_unit: 10, window_offset: per_key"), 20u);
  EXPECT_EQ(worst_of("unit: minute, requests_per_unit: 10, algorithm: sliding_window"), 19u);
  EXPECT_EQ(worst_of("unit: minute, requests_per_unit: 0, algorithm: sliding_window"), 0u);
  EXPECT_EQ(worst_of("unit: minute, requests_per_unit: 10, algorithm: sliding_log"), 10u);
  EXPECT_EQ(worst_of("unit: minute, requests_per_unit: 10, algorithm: gcra, burst: 3"), 13u);
  EXPECT_EQ(worst_of("unit: minute, requests_per_unit: 10, algorithm: token_bucket"), 20u);
  EXPECT_EQ(worst_of("unit: day, requests_per_unit: 10000, algorithm: gcra, burst: 500, peak: {unit: second, "
                     "requests_per_unit: 20}"),
            10'500u)
      << "over a day the peak allows more";
  EXPECT_EQ(worst_of("unit: minute, requests_per_unit: 600, algorithm: gcra, burst: 600, peak: {unit: second, "
                     "requests_per_unit: 5, burst: 2}"),
            302u);
  EXPECT_EQ(worst_of("unit: second, requests_per_unit: 4294967295, algorithm: gcra, burst: 4294967295"),
            8'589'934'590u);
}

constexpr const char* kManifest = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {readme: hello, broken.txt: "a: ["}
---
apiVersion: v1
kind: ConfigMap
data:
  config.one.yaml: |
    domain: one
    descriptors:
      - key: a
  config.two.yaml: "domain: two"
  config.three.yaml: |2

      domain: three
  broken.yaml: |-
    domain: [
  count: 5
binaryData: {x: aGk=}
---
kind: Service
)";

TEST(Manifest, HoldsRulesInTheDataOfItsConfigMaps) {
  const auto manifest = read_manifest(kManifest, "m.yaml");
  ASSERT_TRUE(manifest);
  std::vector<std::string> keys;
  for (const ManifestPart& part : manifest->parts) keys.push_back(part.key);
  EXPECT_THAT(keys, ElementsAre("config.one.yaml", "config.two.yaml", "config.three.yaml", "broken.yaml"));
  EXPECT_THAT(manifest->skipped, ElementsAre(StartsWith("readme: neither"), "broken.txt: no YAML",
                                             StartsWith("count: neither"), "x: binaryData"));
}

TEST(Manifest, TellsWhereALineOfRulesIsInIt) {
  const auto manifest = read_manifest(kManifest, "m.yaml");
  ASSERT_TRUE(manifest);
  const auto place = [&](std::size_t part, int line, int column) {
    return to_string(place_in_manifest(manifest->parts.at(part), {.file = "x", .line = line, .column = column}));
  };
  EXPECT_EQ(place(0, 3, 5), "m.yaml:12:9") << "'key' of the third line";
  EXPECT_EQ(place(1, 1, 1), "m.yaml:13:20") << "where the text in quotes begins";
  EXPECT_EQ(place(2, 2, 1), "m.yaml:16:7") << "behind a line that is empty";
  EXPECT_EQ(place(3, 1, 9), "m.yaml:18:13");
}

TEST(Manifest, IsTakenOutOfListsAndIsNothingElse) {
  EXPECT_EQ(read_manifest("{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, data: {a: 'domain: "
                          "d'}}]}",
                          "m")
                ->parts.size(),
            1u);
  for (const char* text : {"domain: d", "", "[ConfigMap", "kind: ConfigMap", "{apiVersion: v1, kind: Service}",
                           "domain: ConfigMap", "{apiVersion: v1, kind: List, items: [ConfigMap]}", "- ConfigMap"}) {
    EXPECT_FALSE(read_manifest(text, "m")) << text;
  }
}

std::vector<std::string> changes(const std::string& before, const std::string& after) {
  std::vector<std::string> out;
  for (const Change& change : compare(*rules_of(before), *rules_of(after))) {
    out.push_back(
        fmt::format("{}{} {}: {}", change.shout ? "! " : "", to_string(change.kind), change.path, change.text));
  }
  return out;
}

std::vector<std::string> limit_changes(const std::string& before, const std::string& after) {
  return changes(with_limit("{" + before + "}"), with_limit("{" + after + "}"));
}

TEST(Difference, OfTheSameRulesIsNothing) {
  const std::string text = with_limit("{unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 5}");
  EXPECT_THAT(changes(text, "# a remark\n" + text), IsEmpty());
}

TEST(Difference, TellsLimitsWithTheirFactorAndWhatBecomesOfCounters) {
  EXPECT_THAT(limit_changes("unit: minute, requests_per_unit: 60", "unit: minute, requests_per_unit: 150"),
              ElementsAre(AllOf(StartsWith("changed d.k: 60 per minute"), HasSubstr("(2.5 times the rate)"))));
  EXPECT_THAT(limit_changes("unit: minute, requests_per_unit: 60", "unit: second, requests_per_unit: 1"),
              ElementsAre(HasSubstr("(the same rate, counters begin anew)")));
  EXPECT_THAT(limit_changes("unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 5",
                            "unit: second, requests_per_unit: 1, algorithm: gcra, burst: 10"),
              ElementsAre(HasSubstr("(2 times the burst)")));
  EXPECT_THAT(limit_changes("unit: minute, requests_per_unit: 60, algorithm: gcra",
                            "unit: minute, requests_per_unit: 60, algorithm: token_bucket"),
              ElementsAre(HasSubstr("counters begin anew")));
}

TEST(Difference, ShoutsWhatIsTenfoldATenthGoneOrAll) {
  const std::vector<std::pair<std::string, std::string>> shouted = {
      {"unit: minute, requests_per_unit: 60", "unit: second, requests_per_unit: 60"},
      {"unit: minute, requests_per_unit: 600", "unit: minute, requests_per_unit: 60"},
      {"unit: minute, requests_per_unit: 600", "unit: minute, requests_per_unit: 0"},
      {"unit: minute, requests_per_unit: 0", "unit: minute, requests_per_unit: 1"},
      {"unit: minute, requests_per_unit: 600", "unlimited: true"},
      {"unlimited: true", "unit: minute, requests_per_unit: 600"},
      {"unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 5",
       "unit: minute, requests_per_unit: 60, algorithm: gcra, burst: 50"},
  };
  for (const auto& [before, after] : shouted) {
    EXPECT_THAT(limit_changes(before, after), ElementsAre(StartsWith("! changed"))) << before << " -> " << after;
  }
  EXPECT_THAT(limit_changes("unit: minute, requests_per_unit: 60", "unit: minute, requests_per_unit: 599"),
              ElementsAre(StartsWith("changed")));
}

TEST(Difference, TellsRulesThatComeAndGoAndModes) {
  const auto with = [](const std::string& descriptors) { return "domain: d\ndescriptors: [" + descriptors + "]\n"; };
  const std::string a = "{key: a, rate_limit: {unit: day, requests_per_unit: 5}}";
  EXPECT_THAT(changes(with(a), with("")), ElementsAre(StartsWith("! removed d.a: was 5 per day")));
  EXPECT_THAT(changes(with(""), with(a)), ElementsAre(StartsWith("added d.a: 5 per day")));
  EXPECT_THAT(changes(with(a), with("{key: a}")), ElementsAre(HasSubstr("carries no limit any more")));
  EXPECT_THAT(changes(with("{key: a}"), with(a)), ElementsAre(HasSubstr("carried no limit, now 5 per day")));
  EXPECT_THAT(changes(with("{key: a}"), with("")), ElementsAre(HasSubstr("let everything pass")));
  EXPECT_THAT(changes(with(a), "domain: e\ndescriptors: [" + a + "]"),
              ElementsAre(HasSubstr("the domain has no rules any more"), StartsWith("! removed d.a"),
                          "added e: a domain", StartsWith("added e.a")));
  const std::string shadow = "{key: a, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 5}}";
  EXPECT_THAT(changes(with(a), with(shadow)), ElementsAre("! changed d.a: refuses nothing any more (shadow_mode)"));
  EXPECT_THAT(changes("domain: d", "domain: d\nall_or_nothing: true"), ElementsAre(HasSubstr("all or none")));
}

TEST(Difference, TellsWhereWildcardsChangeTheirOrder) {
  const std::string x = "{key: k, value: 'x*', rate_limit: {unit: day, requests_per_unit: 5}}";
  const std::string y = "{key: k, value: '*y', rate_limit: {unit: day, requests_per_unit: 6}}";
  const std::string plain = "{key: k, value: z, rate_limit: {unit: day, requests_per_unit: 6}}";
  EXPECT_THAT(
      changes("domain: d\ndescriptors: [" + x + ", " + y + "]", "domain: d\ndescriptors: [" + y + ", " + x + "]"),
      ElementsAre(HasSubstr("wildcards change their order from 'k_*y' on")));
  EXPECT_THAT(changes("domain: d\ndescriptors: [" + x + ", " + plain + "]",
                      "domain: d\ndescriptors: [" + plain + ", " + x + "]"),
              IsEmpty());
}

}  // namespace
}  // namespace penstock::rules
