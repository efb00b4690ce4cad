#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/rule_set.h"

// What the tests of this room share: rules from a text, and answers as texts.

namespace penstock::rules {

using Entries = std::vector<Entry>;

inline ResultOrAll<Loaded> load_text(std::string text, std::string name = "r.yaml") {
  const Source source{.name = std::move(name), .text = std::move(text)};
  return load({&source, 1}, {});
}

inline std::vector<std::string> texts(const std::vector<Error>& errors) {
  std::vector<std::string> out;
  out.reserve(errors.size());
  for (const Error& error : errors) out.push_back(to_string(error));
  return out;
}

inline std::vector<std::string> errors_of(std::string text) {
  const ResultOrAll<Loaded> loaded = load_text(std::move(text));
  return loaded ? std::vector<std::string>{} : texts(loaded.error());
}

inline std::vector<std::string> warnings_of(std::string text) {
  const ResultOrAll<Loaded> loaded = load_text(std::move(text));
  return loaded ? texts(loaded->warnings) : texts(loaded.error());
}

// Fails the test if the text is no rule file.
inline std::shared_ptr<const RuleSet> rules_of(std::string text) {
  ResultOrAll<Loaded> loaded = load_text(std::move(text));
  if (loaded) return loaded->rules;
  for (const std::string& error : texts(loaded.error())) ADD_FAILURE() << error;
  return std::make_shared<const RuleSet>();
}

// "20/minute", several joined by " + ", "unlimited", or "none".
inline std::string describe(const Rule* rule) {
  if (rule == nullptr) return "none";
  if (rule->unlimited) return "unlimited";
  std::string out;
  for (const RuleLimit& limit : rule->limits) {
    out += fmt::format("{}{}/{}", out.empty() ? "" : " + ", limit.requests_per_unit, to_string(limit.unit));
  }
  return out;
}

inline constexpr HashKey kTestKey{.k0 = 1, .k1 = 2};

inline Match match_in(const RuleSet& rules, std::string_view domain, const Entries& entries) {
  const RuleSet::Domain* known = rules.domain(domain);
  return known == nullptr ? Match{} : rules.match(*known, entries, kTestKey);
}

inline std::string limit_of(const RuleSet& rules, std::string_view domain, const Entries& entries) {
  return describe(match_in(rules, domain, entries).rule);
}

// A file with one descriptor whose `rate_limit` is the text.
inline std::string with_limit(const std::string& limit) {
  return "domain: d\ndescriptors:\n  - key: k\n    rate_limit: " + limit + "\n";
}

// A file with one descriptor that holds the text besides its key.
inline std::string with_fields(const std::string& fields) {
  return "domain: d\ndescriptors:\n  - key: k\n    " + fields + "\n";
}

inline const Rule& only_rule(const RuleSet& rules) {
  EXPECT_EQ(rules.rules().size(), 1u);
  static const Rule kNone;
  return rules.rules().empty() ? kNone : *rules.rules()[0];
}

struct Refused {
  std::string text;
  std::string place;                 // "line:column"
  std::vector<std::string> message;  // parts of it
};

inline void expect_refused(const std::vector<Refused>& table) {
  for (const Refused& refused : table) {
    const std::vector<std::string> errors = errors_of(refused.text);
    ASSERT_THAT(errors, ::testing::SizeIs(1)) << refused.text;
    EXPECT_THAT(errors[0], ::testing::StartsWith("r.yaml:" + refused.place + ": "));
    for (const std::string& part : refused.message) EXPECT_THAT(errors[0], ::testing::HasSubstr(part)) << refused.text;
  }
}

}  // namespace penstock::rules
