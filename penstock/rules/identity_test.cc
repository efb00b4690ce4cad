#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/sha256.h"
#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

RuleLimit window(Unit unit, std::uint32_t amount = 10) {
  return {
      .limit = algorithm::Limit::original_window(amount, seconds_of(unit)), .unit = unit, .requests_per_unit = amount};
}

// The counter of the first limit that the request meets.
Hash128 counter_in(const RuleSet& rules, std::string_view domain, const Entries& entries, std::size_t limit = 0) {
  const Match match = match_in(rules, domain, entries);
  EXPECT_NE(match.rule, nullptr) << domain << " " << entries[0].key << " " << entries[0].value;
  return match.rule == nullptr ? Hash128{} : counter_of(match.counter, match.rule->limits.at(limit));
}

constexpr const char* kRules = R"(
domain: domain
descriptors:
  - {key: key, rate_limit: {unit: second, requests_per_unit: 10}}
  - key: key2
    descriptors:
      - {key: subkey2, rate_limit: {unit: minute, requests_per_unit: 10}}
  - key: key3
    rate_limit: {unit: hour, requests_per_unit: 10}
    descriptors:
      - {key: subkey3, rate_limit: {unit: day, requests_per_unit: 10}}
  - {key: files, value: "files/*", share_threshold: true, rate_limit: {unit: second, requests_per_unit: 10}}
  - key: parent
    descriptors:
      - {key: files, value: "nested/*", share_threshold: true, rate_limit: {unit: second, requests_per_unit: 10}}
  - key: pool
    value: "p*"
    share_threshold: true
    descriptors:
      - {key: user, rate_limit: {unit: second, requests_per_unit: 10}}
  - {key: own, value: "o*", rate_limit: {unit: second, requests_per_unit: 10}}
  - {key: "k*y", share_threshold: true, rate_limit: {unit: second, requests_per_unit: 10}}
)";

TEST(OriginalKey, IsThatOfEnvoyproxyRatelimit) {
  struct Case {
    std::int64_t now;
    Entries entries;
    std::string key;
  };
  const std::shared_ptr<const RuleSet> rules = rules_of(kRules);
  const std::vector<Case> table{
      {1234, {{"key", "value"}}, "domain_key_value_1234"},
      {1234, {{"key2", "value2"}, {"subkey2", "subvalue2"}}, "domain_key2_value2_subkey2_subvalue2_1200"},
      {1'000'000, {{"key3", "value3"}}, "domain_key3_value3_997200"},
      {1'000'000, {{"key3", "value3"}, {"subkey3", "subvalue3"}}, "domain_key3_value3_subkey3_subvalue3_950400"},
      {1234, {{"files", "files/a.pdf"}}, "domain_files_files/*_1234"},
      {1234, {{"parent", "value1"}, {"files", "nested/f"}}, "domain_parent_value1_files_nested/*_1234"},
      {1234, {{"pool", "p1"}, {"user", "u"}}, "domain_pool_p*_user_u_1234"},
      {1234, {{"own", "o1"}}, "domain_own_o1_1234"},
      {1234, {{"ka", "by"}}, "domain_ka_k*y_1234"},
      {1234, {{"key", ""}}, "domain_key__1234"},
  };
  for (const Case& c : table) {
    const Rule* rule = match_in(*rules, "domain", c.entries).rule;
    ASSERT_NE(rule, nullptr) << c.key;
    std::string key = "prefix:";
    EXPECT_TRUE(rules->append_original_key("domain", c.entries, rule->limits.at(0), false,
                                           instant_from_unix_seconds(c.now) + Nanoseconds{999'999'999}, key));
    EXPECT_EQ(key, "prefix:" + c.key);
  }
}

TEST(OriginalKey, OfAnOverrideKeepsTheValuesAsSent) {
  const std::shared_ptr<const RuleSet> rules = rules_of(kRules);
  std::string key;
  const Entries entries{{"files", "files/a.pdf"}};
  EXPECT_TRUE(
      rules->append_original_key("domain", entries, window(Unit::minute), true, instant_from_unix_seconds(1234), key));
  EXPECT_EQ(key, "domain_files_files/a.pdf_1200");
  key.clear();
  EXPECT_TRUE(
      rules->append_original_key("domain", {}, window(Unit::minute), true, instant_from_unix_seconds(1234), key));
  EXPECT_EQ(key, "domain_1200");
}

TEST(OriginalKey, DoesNotExistForWhatTheOriginalDoesNotHave) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - {key: gcra, rate_limit: {unit: day, requests_per_unit: 1, algorithm: gcra}}
  - {key: log, rate_limit: {unit: day, requests_per_unit: 1, algorithm: sliding_log, count_refused: true}}
  - {key: sliding, rate_limit: {unit: day, requests_per_unit: 1, algorithm: sliding_window, count_refused: true}}
  - {key: list, rate_limits: [{unit: day, requests_per_unit: 1, count_refused: true}]}
  - {key: multiplied, rate_limit: {unit: day, requests_per_unit: 1, unit_multiplier: 2}}
  - {key: spread, rate_limit: {unit: day, requests_per_unit: 1, window_offset: per_key}}
  - {key: sparing, rate_limit: {unit: day, requests_per_unit: 1, count_refused: false}}
  - {key: plain, rate_limit: {unit: day, requests_per_unit: 1, unit_multiplier: 1, count_refused: true}}
)");
  std::string key;
  for (const std::string_view name : {"gcra", "log", "sliding", "list", "multiplied", "spread", "sparing"}) {
    const Entries entries{{name, ""}};
    const Rule* rule = match_in(*rules, "d", entries).rule;
    ASSERT_NE(rule, nullptr);
    EXPECT_FALSE(rules->append_original_key("d", entries, rule->limits.at(0), false, Instant{}, key)) << name;
  }
  EXPECT_EQ(key, "");
  const Entries entries{{"plain", ""}};
  const Rule* rule = match_in(*rules, "d", entries).rule;
  ASSERT_NE(rule, nullptr);
  EXPECT_TRUE(rules->append_original_key("d", entries, rule->limits.at(0), false, Instant{}, key))
      << "what says the defaults aloud is the original's all the same";
  EXPECT_EQ(key, "d_plain__0");
}

TEST(CounterIdentity, IsOneForValuesThatShareAndOneEachForTheRest) {
  const std::shared_ptr<const RuleSet> rules = rules_of(kRules);
  const auto counter = [&](const Entries& entries) { return counter_in(*rules, "domain", entries); };
  EXPECT_EQ(counter({{"files", "files/a"}}), counter({{"files", "files/b"}}));
  EXPECT_EQ(counter({{"files", "files/a"}}), counter({{"files", "files/*"}}));
  EXPECT_EQ(counter({{"pool", "p1"}, {"user", "u"}}), counter({{"pool", "p2"}, {"user", "u"}}));
  EXPECT_NE(counter({{"pool", "p1"}, {"user", "u"}}), counter({{"pool", "p1"}, {"user", "v"}}));
  EXPECT_NE(counter({{"own", "o1"}}), counter({{"own", "o2"}}));
  EXPECT_NE(counter({{"key", "a"}}), counter({{"key", "b"}}));
  EXPECT_EQ(counter({{"key", "a"}}), counter({{"key", "a"}}));
  EXPECT_NE(counter({{"ka", "by"}}), counter({{"kb", "by"}}));
}

TEST(CounterIdentity, NeverRunsPartsTogether) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - {key: a, rate_limit: {unit: minute, requests_per_unit: 2}}
  - {key: a_b, rate_limit: {unit: minute, requests_per_unit: 2}}
  - {key: u, descriptors: [{key: v, rate_limit: {unit: minute, requests_per_unit: 2}}]}
)");
  EXPECT_NE(counter_in(*rules, "d", {{"a", "b_c"}}), counter_in(*rules, "d", {{"a_b", "c"}}));
  EXPECT_NE(counter_in(*rules, "d", {{"u", "a:b"}, {"v", "c"}}), counter_in(*rules, "d", {{"u", "a"}, {"v", "b:c"}}));
  EXPECT_NE(counter_in(*rules, "d", {{"u", "a_v"}, {"v", ""}}), counter_in(*rules, "d", {{"u", "a"}, {"v", "v_"}}));

  const Source sources[]{
      {.name = "x", .text = "{domain: x, descriptors: [{key: y_z, rate_limit: {unit: day, requests_per_unit: 2}}]}"},
      {.name = "y", .text = "{domain: x_y, descriptors: [{key: z, rate_limit: {unit: day, requests_per_unit: 2}}]}"},
  };
  const ResultOrAll<Loaded> loaded = load(sources, {});
  ASSERT_TRUE(loaded.has_value());
  EXPECT_NE(counter_in(*loaded->rules, "x", {{"y_z", "v"}}), counter_in(*loaded->rules, "x_y", {{"z", "v"}}));
}

TEST(CounterIdentity, OutlivesEditsOfTheRuleButNotOfItsWindow) {
  const auto counter = [](const std::string& limit) {
    return counter_in(*rules_of("{domain: d, descriptors: [{key: k, rate_limit: " + limit + "}]}"), "d", {{"k", "v"}});
  };
  EXPECT_EQ(counter("{unit: day, requests_per_unit: 1}"), counter("{unit: DAY, requests_per_unit: 5, name: n}"));
  EXPECT_NE(counter("{unit: day, requests_per_unit: 1}"), counter("{unit: hour, requests_per_unit: 1}"));
  EXPECT_NE(counter("{unit: day, requests_per_unit: 1}"),
            counter("{unit: day, requests_per_unit: 1, algorithm: gcra}"));
  EXPECT_EQ(counter("{unit: day, requests_per_unit: 1, algorithm: gcra}"),
            counter("{unit: hour, requests_per_unit: 7, algorithm: gcra, burst: 3}"));
  EXPECT_EQ(
      counter("{unit: day, requests_per_unit: 1, algorithm: leaky_bucket}"),
      counter("{unit: day, requests_per_unit: 1, algorithm: leaky_bucket, unit_multiplier: 9, max_wait: 1s, peak: "
              "{unit: second, requests_per_unit: 1}}"));
  EXPECT_EQ(counter("{unit: day, requests_per_unit: 1, algorithm: sliding_log}"),
            counter("{unit: hour, requests_per_unit: 7, algorithm: sliding_log, count_refused: true}"));
}

TEST(CounterIdentity, HasTheLengthAndTheOffsetOfWindowsAlone) {
  const auto counter = [](const std::string& limit) {
    return counter_in(
        *rules_of("{domain: d, descriptors: [{key: k, rate_limit: {requests_per_unit: 1, " + limit + "}}]}"), "d",
        {{"k", "v"}});
  };
  for (const std::string algorithm : {"algorithm: fixed_window, ", "algorithm: sliding_window, "}) {
    EXPECT_EQ(counter(algorithm + "unit: hour"), counter(algorithm + "unit: minute, unit_multiplier: 60"));
    EXPECT_NE(counter(algorithm + "unit: hour"), counter(algorithm + "unit: hour, unit_multiplier: 2"));
    EXPECT_NE(counter(algorithm + "unit: hour"), counter(algorithm + "unit: hour, window_offset: per_key"));
  }
  EXPECT_NE(counter("unit: hour"), counter("unit: hour, algorithm: sliding_window"));
  EXPECT_NE(counter("unit: hour, algorithm: gcra"), counter("unit: hour, algorithm: token_bucket"));
}

TEST(CounterIdentity, OfAnOverrideIsThatOfTheRuleWithTheSameWindow) {
  const std::shared_ptr<const RuleSet> rules = rules_of(kRules);
  const Entries entries{{"key", "value"}};
  EXPECT_EQ(counter_of(rules->identify("domain", entries, kTestKey), window(Unit::second, 99)),
            counter_in(*rules, "domain", entries));
  EXPECT_NE(counter_of(rules->identify("domain", entries, kTestKey), window(Unit::minute)),
            counter_in(*rules, "domain", entries));
}

TEST(CounterIdentity, KeepsTheLimitsOfAListApart) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - key: k
    rate_limits:
      - {unit: second, requests_per_unit: 10, algorithm: gcra}
      - {unit: day, requests_per_unit: 100, algorithm: gcra}
      - {unit: second, requests_per_unit: 10}
      - {unit: day, requests_per_unit: 100}
)");
  const Entries entries{{"k", "v"}};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(counter_in(*rules, "d", entries, i), counter_in(*rules, "d", entries, j)) << i << " " << j;
    }
  }
  EXPECT_EQ(rules->rules()[0]->limits[1].rank, 1);
  EXPECT_EQ(rules->rules()[0]->limits[3].rank, 0);
}

TEST(CounterIdentity, DependsOnTheKey) {
  const std::shared_ptr<const RuleSet> rules = rules_of(kRules);
  const Entries entries{{"key", "value"}};
  const RuleSet::Domain& domain = *rules->domain("domain");
  EXPECT_NE(rules->match(domain, entries, {.k0 = 1, .k1 = 2}).counter.finish(),
            rules->match(domain, entries, {.k0 = 1, .k1 = 3}).counter.finish());
}

// Nodes of different versions share counters by these bytes: when this fails, the identity was changed.
TEST(SharedIdentity, IsTheSha256OverTheParts) {
  const auto number = [](std::uint64_t value) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
    return bytes;
  };
  const auto part = [&](const std::string& text) { return number(text.size()) + text; };
  const std::string bytes = part("domain") + number(1) + part("files") + part("files/*") +  //
                            number(2) + number(0) + number(1) + number(0) + number(0);
  const std::array<std::uint8_t, 32> digest = sha256(bytes);

  const std::shared_ptr<const RuleSet> rules = rules_of(kRules);
  const Entries entries{{"files", "files/a"}};
  const Rule* rule = match_in(*rules, "domain", entries).rule;
  ASSERT_NE(rule, nullptr);
  const RuleLimit& limit = rule->limits[0];
  const std::array<std::uint8_t, 16> identity = rules->shared_identity("domain", entries, limit, false);
  EXPECT_TRUE(std::equal(identity.begin(), identity.end(), digest.begin()));
  EXPECT_NE(identity, rules->shared_identity("domain", entries, limit, true));

  const RuleLimit spread{.limit = *algorithm::Limit::create({.algorithm = algorithm::Algorithm::sliding_window,
                                                             .amount = 10,
                                                             .window_seconds = 300,
                                                             .spread_windows = true})};
  const std::string of_spread = part("domain") + number(1) + part("key") + part("v") +  //
                                number(2) + number(2) + number(300) + number(1) + number(0);
  const std::array<std::uint8_t, 32> its_digest = sha256(of_spread);
  const std::array<std::uint8_t, 16> its = rules->shared_identity("domain", Entries{{"key", "v"}}, spread, true);
  EXPECT_TRUE(std::equal(its.begin(), its.end(), its_digest.begin()));
  EXPECT_EQ(rules->shared_identity("domain", Entries{{"key", "v"}}, limit, false),
            rules->shared_identity("domain", Entries{{"key", "v"}}, limit, true));
}

}  // namespace
}  // namespace penstock::rules
