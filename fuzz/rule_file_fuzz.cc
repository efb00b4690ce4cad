#include <cstddef>
#include <cstdint>
#include <string>

#include "penstock/base/check.h"
#include "penstock/rules/description.h"
#include "penstock/rules/rule_set.h"

// Any bytes are a rule file or a list of errors with their places; and what loads can be matched against.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock::rules;
  const Source source{.name = "fuzz.yaml", .text = std::string{reinterpret_cast<const char*>(data), size}};
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
  for (const auto& rule : rules.rules()) {
    PENSTOCK_CHECK(rule->unlimited == rule->limits.empty());
    PENSTOCK_CHECK(describe_rule(*rule).size() == (rule->unlimited ? 1 : rule->limits.size()));
  }
  return 0;
}
