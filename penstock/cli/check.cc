#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "penstock/cli/check_report.h"
#include "penstock/cli/check_sources.h"
#include "penstock/cli/commands.h"
#include "penstock/cli/environment.h"
#include "penstock/cli/load_rules.h"
#include "penstock/rules/difference.h"
#include "penstock/trial/timeline.h"

namespace penstock::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> paths;
  std::vector<std::string> diff;  // old and new
  std::string load;
  std::string domain;
  std::string format = "text";
  bool merge_domains = false;
  bool quiet = false;

  [[nodiscard]] bool json() const { return format == "json"; }
};

// Ends the command where there are mistakes.
void require_rules(const CheckedRules& checked, const CheckOptions& options) {
  if (!options.json()) print_findings(checked);
  if (checked.errors.empty()) return;
  if (options.json()) fmt::print("{}", report_json(checked));
  throw CLI::RuntimeError{kNo};
}

void compare(const CheckOptions& options, bool merge_domains) {
  const CheckedRules before = check_sources({options.diff[0]}, merge_domains);
  require_rules(before, options);
  const CheckedRules after = check_sources({options.diff[1]}, merge_domains);
  require_rules(after, options);
  std::vector<rules::Change> changes = rules::compare(*before.rules, *after.rules);
  for (rules::Change& change : changes) {
    const bool old = change.kind == rules::ChangeKind::removed && before.parts.contains(change.place.file);
    change.place = (old ? before : after).in_file(change.place);
  }
  fmt::print("{}", options.json() ? report_changes_json(changes) : report_changes(changes));
  if (options.json()) return;
  fmt::print("{}\n", changes.empty() ? "nothing changes" : counted(changes.size(), "change"));
}

std::string domain_to_try(const CheckOptions& options, const rules::RuleSet& rules) {
  if (!options.domain.empty()) return options.domain;
  const std::vector<std::string_view> names = rules.domain_names();
  if (names.size() == 1) return std::string{names.front()};
  throw CLI::ValidationError{
      "--domain", fmt::format("is needed with --try, as the rules name {}", counted(names.size(), "domain"))};
}

void try_load(const CheckOptions& options, const CheckedRules& checked) {
  const auto load = trial::parse_load(options.load);
  if (!load) throw CLI::ValidationError{"--try", load.error().message};
  const auto timeline = trial::run_load(checked.rules, domain_to_try(options, *checked.rules), *load);
  if (!timeline) throw CLI::ValidationError{"--try", timeline.error().message};
  fmt::print("{}", trial::draw(*timeline));
}

void list(const CheckOptions& options, const CheckedRules& checked) {
  if (options.json()) {
    fmt::print("{}", report_json(checked));
    return;
  }
  if (!options.quiet) {
    for (const auto& rule : checked.rules->rules()) {
      for (const std::string& line : report_rule(*rule)) fmt::print("{}\n", line);
    }
  }
  fmt::print("ok: {}, {}{}\n", counted(checked.files.size(), "file"), describe(*checked.rules),
             checked.warnings.empty() ? "" : ", " + counted(checked.warnings.size(), "warning"));
}

void run(const CheckOptions& options) {
  const bool merge_domains = options.merge_domains || environment_or_end().merge_domains.value_or(false);
  if (!options.diff.empty()) return compare(options, merge_domains);
  if (options.paths.empty())
    throw CLI::ValidationError{"check", "no PATH; accepted are rule files, folders, manifests"};
  const CheckedRules checked = check_sources(options.paths, merge_domains);
  require_rules(checked, options);
  options.load.empty() ? list(options, checked) : try_load(options, checked);
}

}  // namespace

void add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check",
      "Read rule files as `serve` would; name every mistake, or list the limits: exit 0 fine, 1 mistakes, 2 wrong use");
  CLI::Option* paths =
      command
          ->add_option("paths", options->paths,
                       "Rule files, folders with *.yaml, *.yml and *.json, or Kubernetes manifests with ConfigMaps")
          ->type_name("PATH");
  CLI::Option* diff =
      command
          ->add_option("--diff", options->diff,
                       "What changes for whom from the one to the other, tenfold changes first; default off")
          ->expected(2)
          ->type_name("OLD NEW")
          ->excludes(paths);
  command
      ->add_option("--try", options->load,
                   "Send a load to the rules in simulated time and draw what passes: 'api_key=k1 100@10/s'; COUNT@RATE "
                   "by s, m or h, COUNT@once, wait:TIME; default off")
      ->type_name("LOAD")
      ->excludes(diff);
  command->add_option("--domain", options->domain, "The domain for --try; needed where there are several")
      ->type_name("TEXT")
      ->default_str("the only one");
  command->add_option("--format", options->format, "text or json (one document; docs/check.md)")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_flag("--merge-domains", options->merge_domains,
                    "Several files may add to one domain (MERGE_DOMAIN_CONFIG); default off");
  command->add_flag("--quiet", options->quiet, "Do not list what each rule limits; default off");
  command->callback([options] { run(*options); });
}

}  // namespace penstock::cli
