#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "penstock/cli/commands.h"
#include "penstock/cli/load_rules.h"
#include "penstock/rules/description.h"

namespace penstock::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> paths;
  bool merge_domains = false;
  bool quiet = false;
};

// One a line, in the form that editors know: "file:line:column: error: ...".
void print(Severity severity, const Error& error) {
  const char* word = severity == Severity::error ? "error" : "warning";
  const std::string place = error.place ? to_string(*error.place) + ": " : "";
  fmt::print(stderr, "{}{}: {}\n", place, word, error.message);
}

void run(const CheckOptions& options) {
  const auto loaded = load_rules(options.paths, options.merge_domains, print);
  if (!loaded) throw CLI::RuntimeError{kNo};
  if (!options.quiet) {
    for (const auto& rule : loaded->rules->rules()) {
      for (const std::string& line : rules::describe_rule(*rule)) fmt::print("{}\n", line);
    }
  }
  fmt::print("ok: {}, {}{}\n", counted(loaded->files, "file"), describe(*loaded->rules),
             loaded->warnings == 0 ? "" : ", " + counted(loaded->warnings, "warning"));
}

}  // namespace

void add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check",
      "Read rule files as `serve` would; name every mistake, or list the limits: exit 0 fine, 1 mistakes, 2 wrong use");
  command->add_option("paths", options->paths, "Rule files, or folders with *.yaml, *.yml and *.json")
      ->required()
      ->type_name("PATH");
  command->add_flag("--merge-domains", options->merge_domains,
                    "Several files may add to one domain (the original's MERGE_DOMAIN_CONFIG); default off");
  command->add_flag("--quiet", options->quiet, "Do not list what each rule limits; default off");
  command->callback([options] { run(*options); });
}

}  // namespace penstock::cli
