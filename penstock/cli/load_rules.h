#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/rules/rule_set.h"

namespace penstock::cli {

struct LoadedRules {
  std::shared_ptr<const rules::RuleSet> rules;
  std::size_t files = 0;
  std::size_t warnings = 0;
};

enum class Severity : std::uint8_t { warning, error };

// Reads and loads rule files for `serve` and `check`, and reports every warning and error. Nothing is returned where
// there was an error.
[[nodiscard]] std::optional<LoadedRules> load_rules(const std::vector<std::string>& paths,
                                                    const rules::LoadOptions& options,
                                                    const std::function<void(Severity, const Error&)>& report);

// "1 file", "2 files"
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

// "3 domains, 14 rules"
[[nodiscard]] std::string describe(const rules::RuleSet& rules);

}  // namespace penstock::cli
