#include <cstddef>
#include <cstdint>
#include <string>

#include "penstock/base/check.h"
#include "penstock/rules/description.h"
#include "penstock/rules/difference.h"
#include "penstock/rules/limit_facts.h"
#include "penstock/rules/manifest.h"
#include "penstock/rules/rule_set.h"

// Any bytes are a rule file or a list of errors with their places; and what loads can be matched against.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock::rules;
  const Source source{.name = "fuzz.yaml", .text = std::string{reinterpret_cast<const char*>(data), size}};
  if (const auto manifest = read_manifest(source.text, source.name)) {
    for (const ManifestPart& part : manifest->parts) {
      PENSTOCK_CHECK(place_in_manifest(part, {.file = part.key, .line = 1, .column = 1}).line > 0);
    }
  }
  const penstock::ResultOrAll<Loaded> loaded = load({&source, 1}, {});
  if (!loaded) {
    PENSTOCK_CHECK(!loaded.error().empty());
    return 0;
  }
  const RuleSet& rules = *loaded->rules;
  for (const std::string_view name : rules.domain_names()) {
    const Entry entries[]{{.key = "k", .value = "v"}, {.key = name, .value = source.text}};
    const Match match = rules.match(*rules.domain(name), entries, {});
    std::string path;
    PENSTOCK_CHECK(rules.append_stats_path(name, entries, false, path) == (match.rule != nullptr));
  }
  PENSTOCK_CHECK(compare(rules, rules).empty());
  for (const auto& rule : rules.rules()) {
    for (const RuleLimit& limit : rule->limits) PENSTOCK_CHECK(!worst_burst(limit).formula.empty());
    PENSTOCK_CHECK(rule->unlimited == rule->limits.empty());
    PENSTOCK_CHECK(describe_rule(*rule).size() == (rule->unlimited ? 1 : rule->limits.size()));
  }
  return 0;
}
