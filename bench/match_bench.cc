// Matching and loading of rule files, by the number of rules.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "penstock/base/check.h"
#include "penstock/base/hash.h"
#include "penstock/rules/rule_set.h"

namespace penstock::rules {
namespace {

constexpr HashKey kKey{.k0 = 1, .k1 = 2};
constexpr const char* kLimit = "rate_limit: {unit: minute, requests_per_unit: 600}";

std::string rule(const std::string& key, const std::string& value) {
  return fmt::format("  - key: {}\n    value: \"{}\"\n    {}\n", key, value, kLimit);
}

std::string nested(int i) {
  return fmt::format(
      "  - key: tenant\n    value: t{}\n    descriptors:\n      - key: route\n        {}\n      - key: api_key\n       "
      " "
      "value: k{}\n        {}\n",
      i, kLimit, i, kLimit);
}

struct Shape {
  const char* name;
  std::string (*text)(int i);   // of rule i
  std::string (*value)(int i);  // that it takes
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"exact", [](int i) { return rule("path", fmt::format("/users/{}", i)); },
       [](int i) { return fmt::format("/users/{}", i); }},
      {"wild_end", [](int i) { return rule("path", fmt::format("/users/{}/*", i)); },
       [](int i) { return fmt::format("/users/{}/orders", i); }},
      {"wild_middle", [](int i) { return rule("path", fmt::format("/api/*/v{}", i)); },
       [](int i) { return fmt::format("/api/orders/v{}", i); }},
      {"wild_both", [](int i) { return rule("path", fmt::format("/api/*<{}>*/list", i % 4000)); },
       [](int i) { return fmt::format("/api/a<{}>b/list", i % 4000); }},
  };
  return kShapes;
}

std::string file_of(const Shape& shape, int count) {
  std::string text = "domain: d\ndescriptors:\n";
  for (int i = 0; i < count; ++i) text += shape.text(i);
  return text;
}

std::shared_ptr<const RuleSet> load_text(const std::string& text) {
  const Source source{.name = "bench.yaml", .text = text};
  auto loaded = load({&source, 1}, {});
  PENSTOCK_CHECK(loaded.has_value());
  return loaded->rules;
}

// One descriptor against so many rules on one level; every look-up another rule, or none.
void match(benchmark::State& state, const Shape& shape, bool hit) {
  const int count = static_cast<int>(state.range(0));
  const std::shared_ptr<const RuleSet> rules = load_text(file_of(shape, count));
  const RuleSet::Domain& domain = *rules->domain("d");
  std::vector<std::string> values;
  for (int i = 0; i < 1024; ++i) {
    values.push_back(shape.value(static_cast<int>(std::int64_t{i} * 7919 % count)) + (hit ? "" : "!"));
  }
  std::size_t at = 0;
  std::size_t matched = 0;
  for (auto _ : state) {
    const Entry entry{.key = "path", .value = values[at++ % values.size()]};
    const Match found = rules->match(domain, {&entry, 1}, kKey);
    matched += found.rule != nullptr ? 1 : 0;
    benchmark::DoNotOptimize(found);
  }
  const bool right = (matched > 0) == (hit || std::string{shape.name} == "wild_end");
  if (!right) state.SkipWithError("the wrong values matched");
}

void load_rules(benchmark::State& state, std::string (*text_of)(int)) {
  std::string text = "domain: d\ndescriptors:\n";
  for (int i = 0; i < state.range(0); ++i) text += text_of(i);
  for (auto _ : state) benchmark::DoNotOptimize(load_text(text));
  state.counters["MB"] = static_cast<double>(text.size()) / 1e6;
}

const int kRegistered = [] {
  for (const Shape& shape : shapes()) {
    for (const bool hit : {true, false}) {
      auto* bench = benchmark::RegisterBenchmark(fmt::format("match/{}/{}", shape.name, hit ? "hit" : "miss").c_str(),
                                                 [&shape, hit](benchmark::State& state) { match(state, shape, hit); });
      bench->Arg(10)->Arg(1'000)->Arg(shape.name == std::string{"wild_both"} ? 4'000 : 100'000);
    }
    benchmark::RegisterBenchmark(fmt::format("load/{}", shape.name).c_str(),
                                 [&shape](benchmark::State& state) { load_rules(state, shape.text); })
        ->Arg(shape.name == std::string{"wild_both"} ? 4'000 : 100'000)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("load/nested", [](benchmark::State& state) { load_rules(state, nested); })
      ->Arg(50'000)
      ->Unit(benchmark::kMillisecond);
  return 0;
}();

}  // namespace
}  // namespace penstock::rules
