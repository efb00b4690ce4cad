#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "penstock/cli/commands.h"
#include "penstock/cli/json_text.h"
#include "penstock/cli/load_rules.h"
#include "penstock/server/rule_files.h"
#include "penstock/trial/case_runner.h"
#include "penstock/trial/time_text.h"

namespace penstock::cli {
namespace {

namespace json = boost::json;

struct TestOptions {
  std::vector<std::string> paths;
  std::string only;
  std::string format = "text";
};

struct Totals {
  std::size_t passed = 0;
  std::size_t failed = 0;
  bool mistakes = false;
  json::array tests;
};

void report(const Error& error) {
  fmt::print(stderr, "{}: error: {}\n", error.place ? to_string(*error.place) : "penstock", error.message);
}

std::string indented(std::string text, std::string_view indent) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    text.insert(at + 1, indent);
  }
  return text;
}

void print(const trial::Outcome& outcome) {
  if (outcome.differences.empty()) {
    fmt::print("ok    {} ({})\n", outcome.name, counted(outcome.steps, "step"));
    return;
  }
  fmt::print("FAIL  {}\n", outcome.name);
  for (const trial::Difference& difference : outcome.differences) {
    fmt::print("  {}: step {} at {}: {}\n", to_string(difference.place), difference.step, trial::to_text(difference.at),
               difference.what);
    if (!difference.why.empty()) fmt::print("      because {}\n", indented(difference.why, "              "));
  }
}

json::object object_of(const trial::Outcome& outcome) {
  json::array differences;
  for (const trial::Difference& difference : outcome.differences) {
    differences.push_back(json::object{{"file", json_text(difference.place.file)},
                                       {"line", difference.place.line},
                                       {"column", difference.place.column},
                                       {"step", difference.step},
                                       {"at", trial::to_text(difference.at)},
                                       {"what", json_text(difference.what)},
                                       {"why", json_text(difference.why)}});
  }
  return {{"name", json_text(outcome.name)},
          {"file", json_text(outcome.place.file)},
          {"line", outcome.place.line},
          {"ok", outcome.differences.empty()},
          {"differences", std::move(differences)}};
}

// The rules that a file of tests names, relative to it.
std::shared_ptr<const rules::RuleSet> rules_of(const trial::CaseFile& file, const std::filesystem::path& beside) {
  std::vector<std::filesystem::path> paths;
  paths.reserve(file.rules.size());
  for (const auto& [path, place] : file.rules) paths.push_back(beside / path);
  const auto sources = server::read_rule_files(paths);
  if (!sources) {
    std::ranges::for_each(sources.error(), report);
    return nullptr;
  }
  const auto loaded = rules::load(*sources, {.merge_domains = file.merge_domains});
  if (loaded) return loaded->rules;
  std::ranges::for_each(loaded.error(), report);
  return nullptr;
}

void run_file(const rules::Source& source, const TestOptions& options, Totals& totals) {
  const auto file = trial::read_cases(source.text, source.name);
  if (!file) std::ranges::for_each(file.error(), report);
  const auto rules = file ? rules_of(*file, std::filesystem::path{source.name}.parent_path()) : nullptr;
  if (!rules) {
    totals.mistakes = true;
    return;
  }
  for (const trial::Case& test : file->tests) {
    if (test.name.find(options.only) == std::string::npos) continue;
    const auto outcome = trial::run_case(*file, test, rules);
    if (!outcome) {
      report(outcome.error());
      totals.mistakes = true;
      return;
    }
    ++(outcome->differences.empty() ? totals.passed : totals.failed);
    options.format == "json" ? totals.tests.push_back(object_of(*outcome)) : print(*outcome);
  }
}

void run(const TestOptions& options) {
  const std::vector<std::filesystem::path> paths{options.paths.begin(), options.paths.end()};
  const auto sources = server::read_rule_files(paths);
  Totals totals;
  if (!sources) {
    std::ranges::for_each(sources.error(), report);
    throw CLI::RuntimeError{kWrongUse};
  }
  for (const rules::Source& source : *sources) run_file(source, options, totals);
  if (options.format == "json") {
    fmt::print("{}\n", json::serialize(json::object{
                           {"passed", totals.passed}, {"failed", totals.failed}, {"tests", std::move(totals.tests)}}));
  } else {
    fmt::print("{} passed, {} failed\n", totals.passed, totals.failed);
  }
  if (totals.mistakes) throw CLI::RuntimeError{kWrongUse};
  if (totals.passed + totals.failed == 0) {
    fmt::print(stderr, "penstock: no test was run{}\n",
               options.only.empty() ? "" : fmt::format(": none has '{}' in its name", options.only));
    throw CLI::RuntimeError{kWrongUse};
  }
  if (totals.failed > 0) throw CLI::RuntimeError{kNo};
}

}  // namespace

void add_test(CLI::App& app) {
  auto options = std::make_shared<TestOptions>();
  CLI::App* command =
      app.add_subcommand("test",
                         "Run tests of rules in simulated time (docs/rule-tests.md): exit 0 all pass, 1 "
                         "some fail, 2 mistakes in files");
  command->add_option("paths", options->paths, "Files of tests, or folders with *.yaml and *.yml")
      ->required()
      ->type_name("PATH");
  command->add_option("--run", options->only, "Only tests with this text in their name; default off")
      ->type_name("TEXT");
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace penstock::cli
