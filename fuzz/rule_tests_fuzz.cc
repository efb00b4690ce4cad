// Any bytes are a file of tests of rules or a list of mistakes with their places; what is one can be run. So can any
// text be read as a load.

#include <cstddef>
#include <cstdint>
#include <string>

#include "penstock/base/check.h"
#include "penstock/trial/case_runner.h"
#include "penstock/trial/timeline.h"

namespace {

constexpr const char* kRules =
    "{domain: d, descriptors: [{key: a, rate_limit: {unit: second, requests_per_unit: 2, algorithm: gcra}}, {key: b, "
    "rate_limit: {unit: minute, requests_per_unit: 1}}]}";
constexpr std::uint64_t kMostRun = 2'000;  // checks of one input

std::shared_ptr<const penstock::rules::RuleSet> rules() {
  static const auto kLoaded = [] {
    const penstock::rules::Source source{.name = "rules.yaml", .text = kRules};
    return penstock::rules::load({&source, 1}, {})->rules;
  }();
  return kLoaded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  (void)penstock::trial::parse_load(text.substr(0, 200));
  const auto file = penstock::trial::read_cases(text, "fuzz.yaml");
  if (!file) {
    PENSTOCK_CHECK(!file.error().empty() && file.error().front().place.has_value());
    return 0;
  }
  std::uint64_t checks = 0;
  for (const penstock::trial::Case& test : file->tests) {
    for (const penstock::trial::Step& step : test.steps) checks += step.times * (1 + step.descriptors.size());
  }
  if (checks > kMostRun || file->tests.size() > 4) return 0;
  for (const penstock::trial::Case& test : file->tests) {
    const auto outcome = run_case(*file, test, rules());
    PENSTOCK_CHECK(outcome && outcome->differences.size() <= penstock::trial::kMaxDifferences);
  }
  return 0;
}
