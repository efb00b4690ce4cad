#include "penstock/cli/check_sources.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "penstock/server/rule_files.h"

namespace penstock::cli {
namespace {

void print(const char* severity, const Error& error) {
  const std::string place = error.place ? to_string(*error.place) + ": " : "";
  fmt::print(stderr, "{}{}: {}\n", place, severity, error.message);
}

// The sources that rules stand in: files as they are, manifests by the parts of their ConfigMaps.
std::vector<rules::Source> take_apart(std::vector<rules::Source> files, CheckedRules& checked) {
  std::vector<rules::Source> sources;
  for (rules::Source& file : files) {
    checked.files.push_back(file.name);
    std::optional<rules::Manifest> manifest = rules::read_manifest(file.text, file.name);
    if (!manifest) {
      sources.push_back(std::move(file));
      continue;
    }
    for (const std::string& skipped : manifest->skipped) {
      checked.notes.push_back(fmt::format("{}: skipped {}", file.name, skipped));
    }
    if (manifest->parts.empty()) {
      checked.warnings.push_back({.code = ErrorCode::not_found,
                                  .message = "no key of its ConfigMaps holds rules",
                                  .place = Place{.file = file.name}});
    }
    for (rules::ManifestPart& part : manifest->parts) {
      const std::string name = fmt::format("{} ({})", file.name, part.key);
      sources.push_back({.name = name, .text = part.text});
      checked.parts.emplace(name, std::move(part));
    }
  }
  return sources;
}

}  // namespace

Place CheckedRules::in_file(const Place& place) const {
  const auto part = parts.find(place.file);
  return part == parts.end() ? place : rules::place_in_manifest(part->second, place);
}

CheckedRules check_sources(const std::vector<std::string>& paths, bool merge_domains) {
  CheckedRules checked;
  const std::vector<std::filesystem::path> files{paths.begin(), paths.end()};
  auto read = server::read_rule_files(files);
  if (!read) {
    checked.errors = std::move(read.error());
    return checked;
  }
  const std::vector<rules::Source> sources = take_apart(*std::move(read), checked);
  auto loaded = rules::load(sources, {.merge_domains = merge_domains});
  if (loaded) {
    checked.rules = loaded->rules;
    for (Error& warning : loaded->warnings) checked.warnings.push_back(std::move(warning));
    if (checked.rules->rules().empty() && checked.warnings.empty()) {
      checked.warnings.push_back({.message = "no rule limits anything", .place = std::nullopt});
    }
  } else {
    checked.errors = std::move(loaded.error());
  }
  for (std::vector<Error>* list : {&checked.errors, &checked.warnings}) {
    for (Error& error : *list) {
      if (error.place) error.place = checked.in_file(*error.place);
    }
  }
  return checked;
}

void print_findings(const CheckedRules& checked) {
  for (const std::string& note : checked.notes) fmt::print(stderr, "note: {}\n", note);
  for (const Error& error : checked.errors) print("error", error);
  for (const Error& warning : checked.warnings) print("warning", warning);
}

}  // namespace penstock::cli
