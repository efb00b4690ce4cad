#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/testing/allocation_count.h"
#include "penstock/rules/pattern.h"
#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

struct Asked {
  Entries entries;
  std::string limit;
};

void expect_limits(const RuleSet& rules, std::string_view domain, const std::vector<Asked>& table) {
  for (const Asked& asked : table) {
    std::string request;
    for (const Entry& entry : asked.entries) request += fmt::format("({},{})", entry.key, entry.value);
    EXPECT_EQ(limit_of(rules, domain, asked.entries), asked.limit) << domain << " " << request;
  }
}

constexpr const char* kNested = R"(
domain: d
descriptors:
  - key: key1
    value: value1
    descriptors:
      - key: subkey1
        rate_limit: {unit: second, requests_per_unit: 5}
      - key: subkey1
        value: subvalue1
        rate_limit: {unit: second, requests_per_unit: 10}
  - key: key2
    rate_limit: {unit: minute, requests_per_unit: 20}
  - key: key2
    value: value2
    rate_limit: {unit: minute, requests_per_unit: 30}
  - key: key2
    value: value3
  - key: key5
    value: value5
    rate_limit: {unit: day, requests_per_unit: 15}
    descriptors:
      - key: subkey5
        value: subvalue5
        rate_limit: {unit: day, requests_per_unit: 25}
  - key: foo
    rate_limit: {unit: minute, requests_per_unit: 2}
    descriptors:
      - key: bar
        rate_limit: {unit: minute, requests_per_unit: 3}
  - key: open
    rate_limit: {unlimited: true}
)";

TEST(Matching, TakesTheMostSpecificRuleOfEachLevelAndOnlyTheLastOnesLimit) {
  expect_limits(*rules_of(kNested), "d",
                {
                    {{{"key2", "x"}}, "20/minute"},
                    {{{"key2", ""}}, "20/minute"},
                    {{{"key2", "value2"}}, "30/minute"},
                    {{{"key2", "value3"}}, "none"},
                    {{{"key1", "value1"}}, "none"},
                    {{{"key1", "value1"}, {"subkey1", "something"}}, "5/second"},
                    {{{"key1", "value1"}, {"subkey1", "subvalue1"}}, "10/second"},
                    {{{"key1", "other"}, {"subkey1", "something"}}, "none"},
                    {{{"key5", "value5"}}, "15/day"},
                    {{{"key5", "value5"}, {"subkey5", "subvalue5"}}, "25/day"},
                    {{{"key5", "value5"}, {"subkey5", "subvalue"}}, "none"},
                    {{{"key2", "value2"}, {"subkey", "subvalue"}}, "none"},
                    {{{"foo", "x"}}, "2/minute"},
                    {{{"foo", "x"}, {"bar", "y"}}, "3/minute"},
                    {{{"foo", "x"}, {"bar", "y"}, {"bar", "y"}}, "none"},
                    {{{"open", "x"}}, "unlimited"},
                    {{{"unknown", "x"}}, "none"},
                    {{{"", "x"}}, "none"},
                    {{{"", ""}}, "none"},
                    {{}, "none"},
                });
}

TEST(Matching, KnowsNoLimitInAnUnknownDomain) {
  const std::shared_ptr<const RuleSet> rules = rules_of(kNested);
  EXPECT_EQ(rules->domain("e"), nullptr);
  EXPECT_EQ(rules->domain(""), nullptr);
  EXPECT_NE(rules->domain("d"), nullptr);
  EXPECT_EQ(RuleSet{}.domain("d"), nullptr);
}

TEST(Matching, ReadsKeyAndValueJoinedByAnUnderscore) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - {key: a_b, rate_limit: {unit: day, requests_per_unit: 1}}
  - {key: end_, rate_limit: {unit: day, requests_per_unit: 2}}
  - {key: end, rate_limit: {unit: day, requests_per_unit: 3}}
  - {key: 1rp10s__881b2a8e, rate_limit: {unit: day, requests_per_unit: 4}}
)");
  expect_limits(*rules, "d",
                {
                    {{{"a", "b"}}, "1/day"},
                    {{{"a_b", "anything"}}, "1/day"},
                    {{{"a", "b_"}}, "none"},
                    {{{"end", ""}}, "2/day"},
                    {{{"end", "x"}}, "3/day"},
                    {{{"end_", "x"}}, "2/day"},
                    {{{"1rp10s__881b2a8e", "x"}}, "4/day"},
                    {{{"1rp10s_", "881b2a8e"}}, "4/day"},
                });
}

TEST(Matching, GoesNoWayBackOnceALevelHasChosen) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - {key: k, value: exact, descriptors: [{key: a, rate_limit: {unit: day, requests_per_unit: 1}}]}
  - {key: k, value: "e*", descriptors: [{key: b, rate_limit: {unit: day, requests_per_unit: 2}}]}
  - {key: k, descriptors: [{key: c, rate_limit: {unit: day, requests_per_unit: 3}}]}
)");
  expect_limits(*rules, "d",
                {
                    {{{"k", "exact"}, {"a", ""}}, "1/day"},
                    {{{"k", "exact"}, {"b", ""}}, "none"},
                    {{{"k", "exact"}, {"c", ""}}, "none"},
                    {{{"k", "else"}, {"b", ""}}, "2/day"},
                    {{{"k", "else"}, {"c", ""}}, "none"},
                    {{{"k", "other"}, {"c", ""}}, "3/day"},
                });
}

TEST(Matching, TriesExactThenWildcardsInFileOrderThenTheKeyAlone) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - {key: path, rate_limit: {unit: minute, requests_per_unit: 1}}
  - {key: path, value: "/api/*", rate_limit: {unit: minute, requests_per_unit: 5}}
  - {key: path, value: "/api/v1*", rate_limit: {unit: minute, requests_per_unit: 100}}
  - {key: path, value: "/api/v1/x", rate_limit: {unit: minute, requests_per_unit: 7}}
  - {key: any, value: "*", rate_limit: {unit: minute, requests_per_unit: 8}}
  - {key: any, rate_limit: {unit: minute, requests_per_unit: 9}}
)");
  expect_limits(*rules, "d",
                {
                    {{{"path", "/api/v1/y"}}, "5/minute"},
                    {{{"path", "/api/v1/x"}}, "7/minute"},
                    {{{"path", "/other"}}, "1/minute"},
                    {{{"path", "/api/v1*"}}, "100/minute"},
                    {{{"any", "x"}}, "8/minute"},
                    {{{"any", ""}}, "8/minute"},
                });
}

TEST(Matching, AStarInTheKeyIsComparedWithTheJoinedText) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - {key: "ro*te", rate_limit: {unit: day, requests_per_unit: 1}}
  - {key: p, value: "*", rate_limit: {unit: day, requests_per_unit: 2}}
  - {key: "httproute/ns/name/rule/0/match/0/*", value: "httproute/ns/name/rule/0/match/0/*", rate_limit: {unit: day, requests_per_unit: 3}}
)");
  expect_limits(*rules, "d",
                {
                    {{{"route", ""}}, "none"},
                    {{{"route", "te"}}, "1/day"},
                    {{{"route", "xte"}}, "1/day"},
                    {{{"ro*te", "whatever"}}, "1/day"},
                    {{{"p_q", "r"}}, "2/day"},
                    {{{"p", ""}}, "2/day"},
                    {{{"httproute/ns/name/rule/0/match/0/*", "httproute/ns/name/rule/0/match/0/*"}}, "3/day"},
                });
  const std::shared_ptr<const RuleSet> bare = rules_of(R"(
domain: starkey
descriptors:
  - {key: early, value: "e*", rate_limit: {unit: day, requests_per_unit: 1}}
  - {key: "*", rate_limit: {unit: day, requests_per_unit: 2}}
  - {key: plain, rate_limit: {unit: day, requests_per_unit: 3}}
  - {key: exact, value: one, rate_limit: {unit: day, requests_per_unit: 4}}
)");
  expect_limits(*bare, "starkey",
                {
                    {{{"early", "ex"}}, "1/day"},
                    {{{"early", "x"}}, "2/day"},
                    {{{"plain", ""}}, "2/day"},
                    {{{"other", "x"}}, "2/day"},
                    {{{"exact", "one"}}, "4/day"},
                });
}

TEST(Matching, LongNamesAndOddCharactersAreNothingSpecial) {
  const std::string value(4096, 'v');
  const std::shared_ptr<const RuleSet> rules = rules_of(
      "domain: d\ndescriptors:\n"
      "  - {key: long, value: " +
      value +
      ", rate_limit: {unit: day, requests_per_unit: 1}}\n"
      "  - {key: net, value: 192.168.0.0/16, rate_limit: {unit: day, requests_per_unit: 2}}\n"
      "  - {key: net, value: '2001:db8::/32', rate_limit: {unit: day, requests_per_unit: 3}}\n"
      "  - {key: \"nul\\0\", value: \"a\\nb\", rate_limit: {unit: day, requests_per_unit: 4}}\n");
  expect_limits(*rules, "d",
                {
                    {{{"long", value}}, "1/day"},
                    {{{"long", std::string_view{value}.substr(1)}}, "none"},
                    {{{"net", "192.168.0.0/16"}}, "2/day"},
                    {{{"net", "2001:db8::/32"}}, "3/day"},
                    {{{std::string_view{"nul\0", 4}, "a\nb"}}, "4/day"},
                    {{{"nul", "a\nb"}}, "none"},
                });
}

TEST(Pattern, ComparesPiecesAsPrefixSuffixAndInOrderBetween) {
  struct Case {
    const char* pattern;
    const char* key;
    const char* value;
    bool matches;
  };
  const std::vector<Case> table{
      {"k_foo*", "k", "foo1", true},
      {"k_foo*", "k", "foo", true},
      {"k_foo*", "k", "bar", false},
      {"k_bar*b", "k", "barab", true},
      {"k_bar*b", "k", "bar123b", true},
      {"k_bar*b", "k", "barb", true},
      {"k_bar*b", "k", "bara", false},
      {"k_bar*b", "k", "bar123", false},
      {"k_bar*b", "k", "xbarb", false},
      {"k_foo*bar*baz", "k", "foo123bar456baz", true},
      {"k_foo*bar*baz", "k", "foobarbaz", true},
      {"k_foo*bar*baz", "k", "fooXbarYbaz", true},
      {"k_foo*bar*baz", "k", "foobaz", false},
      {"k_foo*bar*baz", "k", "foo123baz", false},
      {"k_foo*bar*baz", "k", "bar456baz", false},
      {"k_ab*ba", "k", "aba", false},
      {"k_ab*ba", "k", "abba", true},
      {"k_*", "k", "", true},
      {"k_*", "j", "", false},
      {"k_**", "k", "x", true},
      {"k_a**b", "k", "ab", true},
      {"*", "", "", true},
      {"*_*", "k", "v", true},
      {"*y_v*", "key", "value", true},
      {"*_v*l*e", "key", "value", true},
      {"*key_*", "key", "value", true},
      {"*ey_val*ue", "key", "value", true},
      {"*x_val*ue", "key", "value", false},
      {"*key_value*", "key", "value", true},
      {"*key_value_*", "key", "value", false},
      {"*a*a*a*", "a", "aa", true},
      {"*a*a*a*", "a", "a", false},
      {"k_*ab*", "k", "aab", true},
      {"*k_", "k", "", true},
      {"*", "k", "v", true},
  };
  for (const Case& c : table) {
    EXPECT_EQ(Pattern{c.pattern}.matches(c.key, c.value), c.matches) << c.pattern << " " << c.key << " " << c.value;
  }
}

TEST(Matching, AllocatesNothing) {
  const std::shared_ptr<const RuleSet> rules = rules_of(R"(
domain: d
descriptors:
  - key: tenant
    descriptors:
      - {key: path, value: "/a*/b*c", share_threshold: true, rate_limit: {unit: day, requests_per_unit: 1}}
      - {key: path, rate_limit: {unit: day, requests_per_unit: 2}}
)");
  const std::string tenant(100, 't');
  const std::vector<Entries> requests{
      {{"tenant", tenant}, {"path", "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbbbbbbc"}},
      {{"tenant", tenant}, {"path", "elsewhere"}},
      {{"tenant", tenant}, {"path", "elsewhere"}, {"deeper", "x"}},
      {{"nothing", tenant}},
      {},
  };
  const std::uint64_t before = allocation_count();
  ASSERT_GT(before, 0u);
  std::size_t found = 0;
  Hash128 sum;
  for (const Entries& entries : requests) {
    const RuleSet::Domain* domain = rules->domain("d");
    const Match match = rules->match(*domain, entries, kTestKey);
    const Hash128 counter = match.rule == nullptr ? rules->identify("d", entries, kTestKey).finish()
                                                  : counter_of(match.counter, match.rule->limits[0]);
    found += match.rule != nullptr;
    sum.low ^= counter.low;
  }
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(found, 2u);
  EXPECT_NE(sum.low, 0u);
}

}  // namespace
}  // namespace penstock::rules
