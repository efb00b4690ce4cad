#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "penstock/base/nearest.h"
#include "penstock/cli/commands.h"

namespace penstock::cli {
namespace {

// The names that could have been meant where `unknown` stands: options of the chosen command, or the commands.
std::vector<std::string> accepted_names(const CLI::App& app, std::string_view unknown) {
  std::vector<std::string> names;
  const auto chosen = app.get_subcommands();
  const CLI::App& scope = chosen.empty() ? app : *chosen.front();
  if (unknown.starts_with('-')) {
    for (const CLI::Option* option : scope.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else if (chosen.empty()) {
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  }
  return names;
}

int report_unknown(const CLI::App& app, const std::string& text) {
  const std::string unknown = text.substr(0, text.find('='));
  const std::vector<std::string> names = accepted_names(app, unknown);
  const std::vector<std::string_view> views{names.begin(), names.end()};
  const std::optional<std::string_view> meant = nearest(unknown, views);
  const auto chosen = app.get_subcommands();
  const std::string help =
      chosen.empty() ? "penstock --help" : fmt::format("penstock {} --help", chosen.front()->get_name());
  fmt::print(stderr, "penstock: '{}' is not known{}; see {}\n", unknown,
             meant ? fmt::format(", did you mean '{}'?", *meant) : "", help);
  return kWrongUse;
}

std::optional<std::string> first_unknown(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const auto extras = chosen.empty() ? app.remaining() : chosen.front()->remaining();
  if (extras.empty()) return std::nullopt;
  return extras.front();
}

int run(int argc, char** argv) {
  CLI::App app{
      "Penstock answers \"may this go on, now?\" for proxies and applications: a rate limit service that speaks\n"
      "Envoy's protocol and reads the rule files of envoyproxy/ratelimit."};
  app.name("penstock");
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  app.set_version_flag("--version", "penstock " PENSTOCK_VERSION, "As the command `version`");
  app.allow_extras();
  // Before any command runs: one with an option that is not known must do nothing.
  app.parse_complete_callback([&app] {
    if (const auto unknown = first_unknown(app)) throw CLI::ExtrasError{"penstock", {*unknown}};
  });
  add_serve(app);
  add_check(app);
  add_test(app);
  add_ask(app);
  add_version(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& shown) {  // --help, --version
    return app.exit(shown);
  } catch (const CLI::RuntimeError& done) {
    return done.get_exit_code();
  } catch (const CLI::ParseError& error) {
    // A misspelt option also leaves the right one missing; the misspelling is what helps.
    if (const auto unknown = first_unknown(app)) return report_unknown(app, *unknown);
    fmt::print(stderr, "penstock: {}\n", error.what());
    return kWrongUse;
  }
  if (const auto unknown = first_unknown(app)) return report_unknown(app, *unknown);
  if (app.get_subcommands().empty()) {
    fmt::print(stderr, "{}", app.help());
    return kWrongUse;
  }
  return kOk;
}

}  // namespace
}  // namespace penstock::cli

int main(int argc, char** argv) {
  try {
    return penstock::cli::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "penstock: {}\n", error.what());
    return penstock::cli::kNoAnswer;
  }
}
