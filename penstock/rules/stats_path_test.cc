#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

std::string stats_path(const RuleSet& rules, std::string_view domain, const Entries& entries,
                       bool is_override = false) {
  std::string path;
  return rules.append_stats_path(domain, entries, is_override, path) ? path : "none";
}

// One chain of descriptors, the last with a limit; each level is what stands between its braces.
std::string chain(const std::string& domain, const std::vector<std::string>& levels) {
  std::string text = "{domain: " + domain;
  for (const std::string& level : levels) text += ", descriptors: [{" + level;
  text += ", rate_limit: {unit: day, requests_per_unit: 1}";
  for (std::size_t i = 0; i < levels.size(); ++i) text += "}]";
  return text + "}";
}

TEST(StatsPath, HoldsValuesWhereTheFlagsAskForThem) {
  struct Case {
    std::string domain;
    std::vector<std::string> levels;
    Entries entries;
    std::string path;
  };
  const std::string vtm = ", value_to_metric: true";
  const std::string share = ", share_threshold: true";
  const std::string detailed = ", detailed_metric: true";
  const std::vector<std::string> draw{"key: route" + vtm, "key: http_method" + vtm, "key: subject_id"};
  const std::vector<Case> table{
      {"domain",
       draw,
       {{"route", "draw"}, {"http_method", "GET"}, {"subject_id", "123"}},
       "domain.route_draw.http_method_GET.subject_id"},
      {"d", {"key: k1", "key: k2" + vtm, "key: k3"}, {{"k1", "X"}, {"k2", "Y"}, {"k3", "Z"}}, "d.k1.k2_Y.k3"},
      {"domain",
       draw,
       {{"route", ""}, {"http_method", "GET"}, {"subject_id", "123"}},
       "domain.route.http_method_GET.subject_id"},
      {"domain",
       {"key: route" + vtm, "key: http_method" + vtm, "key: subject_id" + detailed},
       {{"route", "draw"}, {"http_method", "GET"}, {"subject_id", "123"}},
       "domain.route_draw.http_method_GET.subject_id_123"},
      {"domain",
       {"key: user" + vtm, "key: action, value: 'read*'" + vtm, "key: resource"},
       {{"user", "alice"}, {"action", "readfile"}, {"resource", "documents"}},
       "domain.user_alice.action_readfile.resource"},
      {"test-domain",
       {"key: wild, value: 'foo*'", "key: other" + vtm, "key: limit"},
       {{"wild", "foo1"}, {"other", "bar"}, {"limit", "X"}},
       "test-domain.wild_foo*.other_bar.limit"},
      {"test-domain",
       {"key: route, value: 'api/*'" + share + vtm, "key: method"},
       {{"route", "api/v1"}, {"method", "GET"}},
       "test-domain.route_api/*.method"},
      {"test-domain",
       {"key: service, value: 'svc/*'" + share, "key: endpoint" + detailed},
       {{"service", "svc/user"}, {"endpoint", "get"}},
       "test-domain.service_svc/*.endpoint_get"},
      {"test-domain",
       {"key: files, value: 'top/*'" + share, "key: files, value: 'nested/*'" + share},
       {{"files", "top/f"}, {"files", "nested/f"}},
       "test-domain.files_top/*.files_nested/*"},
      {"test-domain",
       {"key: path, value: 'path/*'" + share, "key: file, value: 'file/*'", "key: type"},
       {{"path", "path/foo"}, {"file", "file/doc1"}, {"type", "pdf"}},
       "test-domain.path_path/*.file_file/*.type"},
      {"d", {"key: k, value: v"}, {{"k", "v"}}, "d.k_v"},
      {"d", {"key: k, value: v" + vtm, "key: j"}, {{"k", "v"}, {"j", "x"}}, "d.k_v.j"},
      {"d",
       {"key: route", "key: method", "key: id" + detailed},
       {{"route", ""}, {"method", ""}, {"id", ""}},
       "d.route_.method_.id_"},
      {"d",
       {"key: s, value: 's*'" + share, "key: method", "key: id" + detailed},
       {{"s", "s1"}, {"method", ""}, {"id", ""}},
       "d.s_s*.method.id"},
      {"d", {"key: k" + detailed, "key: j"}, {{"k", "v"}, {"j", "w"}}, "d.k.j"},
      {"d", {"key: '*'"}, {{"any", "v"}}, "d.any_*"},
      {"d", {"key: k, value: 'a*'" + vtm}, {{"k", "a*"}}, "d.k_a*"},
  };
  for (const Case& c : table) EXPECT_EQ(stats_path(*rules_of(chain(c.domain, c.levels)), c.domain, c.entries), c.path);
}

TEST(StatsPath, OfAnOverrideHoldsEverythingThatWasSent) {
  const std::shared_ptr<const RuleSet> rules = rules_of(chain("d", {"key: k"}));
  EXPECT_EQ(stats_path(*rules, "d", {{"a", "b"}, {"c", "d"}}, true), "d.a_b.c_d");
  EXPECT_EQ(stats_path(*rules, "d", {}, true), "d.");
  EXPECT_EQ(stats_path(*rules, "e", {{"a", "b"}}, true), "none");
}

TEST(StatsPath, DoesNotExistWhereNothingLimits) {
  const std::shared_ptr<const RuleSet> rules = rules_of(chain("d", {"key: k", "key: j"}));
  EXPECT_EQ(stats_path(*rules, "d", {{"k", "v"}}), "none");
  EXPECT_EQ(stats_path(*rules, "e", {{"k", "v"}}), "none");
  EXPECT_EQ(rules->rules()[0]->path, "d.k.j");
}

}  // namespace
}  // namespace penstock::rules
