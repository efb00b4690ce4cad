#include "penstock/cli/load_rules.h"

#include <filesystem>

#include <fmt/format.h>

#include "penstock/server/rule_files.h"

namespace penstock::cli {
std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<LoadedRules> load_rules(const std::vector<std::string>& paths, const rules::LoadOptions& options,
                                      const std::function<void(Severity, const Error&)>& report) {
  const std::vector<std::filesystem::path> files{paths.begin(), paths.end()};
  const auto sources = server::read_rule_files(files);
  if (!sources) {
    for (const Error& error : sources.error()) report(Severity::error, error);
    return std::nullopt;
  }
  auto loaded = rules::load(*sources, options);
  if (!loaded) {
    for (const Error& error : loaded.error()) report(Severity::error, error);
    return std::nullopt;
  }
  for (const Error& warning : loaded->warnings) report(Severity::warning, warning);
  return LoadedRules{.rules = loaded->rules, .files = sources->size(), .warnings = loaded->warnings.size()};
}

std::string describe(const rules::RuleSet& rules) {
  return fmt::format("{}, {}", counted(rules.domain_names().size(), "domain"), counted(rules.rules().size(), "rule"));
}

}  // namespace penstock::cli
