#include "penstock/cli/load_rules.h"

#include <cstdio>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "penstock/server/rule_files.h"

namespace penstock::cli {
namespace {

void print(const Error& error, std::string_view severity) {
  if (error.place) {
    fmt::print(stderr, "{}: {}: {}\n", to_string(*error.place), severity, error.message);
  } else {
    fmt::print(stderr, "{}: {}\n", severity, error.message);
  }
}

void print_errors(const std::vector<Error>& errors) {
  for (const Error& error : errors) print(error, "error");
}

}  // namespace

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<LoadedRules> load_rules(const std::vector<std::string>& paths, bool merge_domains) {
  const std::vector<std::filesystem::path> files{paths.begin(), paths.end()};
  const auto sources = server::read_rule_files(files);
  if (!sources) {
    print_errors(sources.error());
    return std::nullopt;
  }
  auto loaded = rules::load(*sources, {.merge_domains = merge_domains});
  if (!loaded) {
    print_errors(loaded.error());
    return std::nullopt;
  }
  for (const Error& warning : loaded->warnings) print(warning, "warning");
  return LoadedRules{.rules = loaded->rules, .files = sources->size(), .warnings = loaded->warnings.size()};
}

std::string describe(const rules::RuleSet& rules) {
  return fmt::format("{}, {}", counted(rules.domain_names().size(), "domain"), counted(rules.rules().size(), "rule"));
}

}  // namespace penstock::cli
