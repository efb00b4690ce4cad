#include <fmt/format.h>

#include "penstock/cli/commands.h"

namespace penstock::cli {

void add_version(CLI::App& app) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->callback([] { fmt::print("penstock {}\n", PENSTOCK_VERSION); });
}

}  // namespace penstock::cli
