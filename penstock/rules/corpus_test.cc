#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::filesystem::path kCorpus = std::filesystem::path{PENSTOCK_SOURCE_DIR} / "test" / "corpus";

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>{in}, {}};
}

struct Expected {
  std::string file;
  bool loads = false;
  bool warning_advised = false;
};

std::vector<std::vector<std::string>> read_table(const std::filesystem::path& path) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in{read_text(path)};
  std::string line;
  std::getline(in, line);  // names of the columns
  while (std::getline(in, line)) {
    std::vector<std::string> row;
    std::istringstream cells{line};
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
    rows.push_back(row);
  }
  return rows;
}

std::vector<Expected> expected_verdicts() {
  std::vector<Expected> all;
  for (const std::vector<std::string>& row : read_table(kCorpus / "SOURCES.tsv")) {
    all.push_back({.file = row.at(0), .loads = row.at(5) == "LOAD"});
  }
  for (const std::vector<std::string>& row : read_table(kCorpus / "edge_cases" / "EXPECTED.tsv")) {
    all.push_back(
        {.file = "edge_cases/" + row.at(0), .loads = row.at(1) == "LOAD", .warning_advised = row.at(2) == "yes"});
  }
  return all;
}

ResultOrAll<Loaded> load_file(const std::string& file) { return load_text(read_text(kCorpus / file), file); }

std::shared_ptr<const RuleSet> edge_case(const std::string& file) {
  ResultOrAll<Loaded> loaded = load_file("edge_cases/" + file);
  EXPECT_TRUE(loaded.has_value()) << file;
  return loaded ? loaded->rules : std::make_shared<const RuleSet>();
}

TEST(Corpus, GetsTheVerdictsOfEnvoyproxyRatelimit) {
  const std::vector<Expected> all = expected_verdicts();
  ASSERT_GT(all.size(), 80u);
  for (const Expected& expected : all) {
    const ResultOrAll<Loaded> loaded = load_file(expected.file);
    EXPECT_EQ(loaded.has_value(), expected.loads) << expected.file << "\n"
                                                  << (loaded ? "" : to_string(loaded.error().front()));
    if (loaded && expected.warning_advised) {
      EXPECT_THAT(loaded->warnings, Not(IsEmpty())) << expected.file;
    }
  }
}

TEST(Corpus, HasAnExpectedVerdictForEveryFile) {
  std::map<std::string, int> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{kCorpus}) {
    if (entry.path().extension() == ".yaml") ++files[std::filesystem::relative(entry.path(), kCorpus).string()];
  }
  for (const Expected& expected : expected_verdicts()) --files[expected.file];
  for (const auto& [file, balance] : files) EXPECT_EQ(balance, 0) << file;
}

TEST(Corpus, EveryRefusalNamesThePlace) {
  for (const Expected& expected : expected_verdicts()) {
    if (expected.loads) continue;
    const ResultOrAll<Loaded> loaded = load_file(expected.file);
    ASSERT_FALSE(loaded.has_value()) << expected.file;
    for (const Error& error : loaded.error()) {
      ASSERT_TRUE(error.place.has_value()) << error.message;
      EXPECT_EQ(error.place->file, expected.file);
      EXPECT_GT(error.place->line, 0) << to_string(error);
    }
  }
}

TEST(Corpus, FilesOfOneDomainLoadTogetherOnlyWhenDomainsAreMerged) {
  const std::string folder = "envoyproxy__ratelimit/test__config__";
  std::vector<Source> sources;
  for (const char* name : {"merge_domain_key1.yaml", "merge_domain_key2.yaml"}) {
    sources.push_back({.name = name, .text = read_text(kCorpus / (folder + name))});
  }
  const ResultOrAll<Loaded> merged = load(sources, {.merge_domains = true});
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(limit_of(*merged->rules, "test-domain", {{"key1", "value1"}}), "10/minute");
  EXPECT_EQ(limit_of(*merged->rules, "test-domain", {{"key2", "value2"}}), "20/minute");

  const ResultOrAll<Loaded> apart = load(sources, {});
  ASSERT_FALSE(apart.has_value());
  EXPECT_THAT(texts(apart.error()), Contains(HasSubstr("merge_domain_key2.yaml:")));
}

struct Asked {
  std::string file;
  std::string domain;
  Entries entries;
  std::string limit;
};

TEST(Corpus, EdgeCasesMeanWhatEnvoyproxyRatelimitMakesOfThem) {
  const std::vector<Asked> table{
      {"d01-value-unquoted-int.yaml", "d01", {{"PARTNER", "313"}}, "5/minute"},
      {"d01-value-unquoted-int.yaml", "d01", {{"PARTNER", "314"}}, "none"},
      {"d02-value-leading-zero.yaml", "d02", {{"zip", "0123"}}, "5/minute"},
      {"d02-value-leading-zero.yaml", "d02", {{"zip", "83"}}, "none"},
      {"d02-value-leading-zero.yaml", "d02", {{"zip", "123"}}, "none"},
      {"d05-value-null.yaml", "d05", {{"user", "anything"}}, "5/minute"},
      {"d05-value-null.yaml", "d05", {{"team", "anything"}}, "6/minute"},
      {"d07-limit-uint32-max.yaml", "d07", {{"k", ""}}, "4294967295/day"},
      {"d13-limit-yaml11-integers.yaml", "d13", {{"a", ""}}, "1000/second"},
      {"d13-limit-yaml11-integers.yaml", "d13", {{"b", ""}}, "16/second"},
      {"d13-limit-yaml11-integers.yaml", "d13", {{"c", ""}}, "8/second"},
      {"d14-limit-missing.yaml", "d14", {{"k", ""}}, "0/second"},
      {"d26-duplicate-map-keys.yaml", "d26", {{"k", "second"}}, "1/minute"},
      {"d26-duplicate-map-keys.yaml", "d26", {{"k", "first"}}, "none"},
      {"d28-merge-key.yaml", "d28", {{"a", "x"}}, "10/second"},
      {"d28-merge-key.yaml", "d28", {{"b", "x"}}, "99/second"},
      {"d31-json.yaml", "d31", {{"k", "v"}}, "5/second"},
      {"d32-two-documents.yaml", "d32", {{"k", "x"}}, "1/minute"},
      {"d32-two-documents.yaml", "d32b", {{"z", "x"}}, "none"},
      {"d34-utf8-bom.yaml", "d34", {{"k", "x"}}, "5/minute"},
      {"d41-explicit-defaults.yaml", "d41", {{"route", "route"}, {"rule-0-match--1", "rule-0-match--1"}}, "5/second"},
      {"d41-explicit-defaults.yaml", "d41", {{"route", "route"}}, "none"},
      {"d46-value-star.yaml", "d46", {{"remote_address", "10.0.0.1"}}, "50/second"},
      {"d52-block-scalar-value.yaml", "d52", {{"k", "abc"}}, "none"},
      {"d52-block-scalar-value.yaml", "d52", {{"k", "abc\n"}}, "5/minute"},
      {"d55-odd-characters.yaml", "d55", {{"path", "/a b?x=1&y=\u00fc|;:\"q\"/{id}"}}, "5/minute"},
      {"d55-odd-characters.yaml", "d55", {{"masked_remote_address", "192.168.0.0/16"}}, "6/minute"},
      {"d55-odd-characters.yaml", "d55", {{"masked_remote_address", "2001:db8::/32"}}, "7/minute"},
  };
  for (const Asked& asked : table) {
    EXPECT_EQ(limit_of(*edge_case(asked.file), asked.domain, asked.entries), asked.limit)
        << asked.file << " " << asked.entries[0].key << "=" << asked.entries[0].value;
  }
}

TEST(Corpus, ShadowModeTakesTheBooleansOfYaml11) {
  const std::shared_ptr<const RuleSet> rules = edge_case("d44-shadow-yes.yaml");
  const Rule* rule = match_in(*rules, "d44", {{"k", "x"}}).rule;
  ASSERT_NE(rule, nullptr);
  EXPECT_TRUE(rule->shadow_mode);
}

TEST(Corpus, TwelveLevelsAreLimitedOnlyAtTheTwelfth) {
  const std::shared_ptr<const RuleSet> rules = edge_case("d56-deep-nesting.yaml");
  std::vector<std::string> keys;
  keys.reserve(12);
  for (int i = 0; i < 12; ++i) keys.push_back(fmt::format("l{}", i));
  Entries entries;
  for (const std::string& key : keys) {
    EXPECT_EQ(limit_of(*rules, "d56", entries), "none") << entries.size();
    entries.push_back({key, "v"});
  }
  EXPECT_NE(limit_of(*rules, "d56", entries), "none");
}

TEST(Examples, LoadTogetherWithoutAWarning) {
  std::vector<Source> sources;
  for (const auto& entry :
       std::filesystem::directory_iterator{std::filesystem::path{PENSTOCK_SOURCE_DIR} / "examples" / "rules"}) {
    sources.push_back({.name = entry.path().filename().string(), .text = read_text(entry.path())});
  }
  const ResultOrAll<Loaded> loaded = load(sources, {});
  ASSERT_TRUE(loaded.has_value()) << to_string(loaded.error().front());
  EXPECT_THAT(texts(loaded->warnings), IsEmpty());
  EXPECT_EQ(limit_of(*loaded->rules, "example", {{"remote_address", "10.0.0.1"}}), "60/minute");
  EXPECT_EQ(limit_of(*loaded->rules, "example", {{"remote_address", "127.0.0.1"}}), "unlimited");
  EXPECT_EQ(limit_of(*loaded->rules, "example", {{"tenant", "t"}}), "5/second + 1000/day");
  for (const std::string_view algorithm :
       {"fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra"}) {
    const Rule* const rule = match_in(*loaded->rules, "example-algorithms", {{algorithm, "x"}}).rule;
    ASSERT_NE(rule, nullptr) << algorithm;
    EXPECT_EQ(to_string(rule->limits.at(0).limit.algorithm()), algorithm);
  }
  EXPECT_EQ(limit_of(*loaded->rules, "example-paths", {{"path", "/login"}, {"remote_address", "::1"}}), "5/minute");
  EXPECT_EQ(limit_of(*loaded->rules, "example-paths", {{"path", "/static/a/b"}}), "100/second");
}

// The indented lines from "domain:" on.
std::string example_in(const std::string& document) {
  std::istringstream lines{document};
  std::string example;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("    ");
    if (example.empty() && !line.starts_with("    domain:")) continue;
    if (!indented && !line.empty()) break;
    example += line + "\n";
  }
  return example;
}

TEST(Examples, InTheDocumentsLoadWithoutAWarning) {
  for (const char* document : {"README.md", "docs/rule-files.md"}) {
    const std::string example = example_in(read_text(std::filesystem::path{PENSTOCK_SOURCE_DIR} / document));
    EXPECT_THAT(example, HasSubstr("rate_limit")) << document;
    EXPECT_THAT(warnings_of(example), IsEmpty()) << document;
  }
}

}  // namespace
}  // namespace penstock::rules
