#pragma once

#include <CLI/CLI.hpp>

namespace penstock::cli {

// Exit codes of all commands.
inline constexpr int kOk = 0;
inline constexpr int kNo = 1;  // check: mistakes found; test: a test failed; ask: over limit
inline constexpr int kWrongUse = 2;
inline constexpr int kNoAnswer = 3;  // ask: nothing, or an error, came back; serve: a port could not be opened

// Each adds its subcommand with all options; when that is chosen its callback runs the command and throws
// CLI::RuntimeError with the exit code where that is not kOk.
void add_serve(CLI::App& app);
void add_check(CLI::App& app);
void add_test(CLI::App& app);
void add_ask(CLI::App& app);
void add_version(CLI::App& app);

}  // namespace penstock::cli
