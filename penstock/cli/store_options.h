#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/cli/environment.h"
#include "penstock/server/server.h"

namespace penstock::cli {

// What the command line says of shared stores. What is absent stands for a variable of the environment, then the
// default.
struct StoreOptions {
  std::string url;
  std::string per_second_url;
  std::string settings_file;
  std::string password_file;
  server::TlsSettings tls;
  double deadline_ms = 5;
  std::string keys = "original";
  std::optional<std::string> key_prefix;
  std::optional<std::int64_t> jitter_seconds;
  std::string on_failure = "error";
  std::uint32_t fleet_size = 1;
  std::size_t denied_bytes = std::size_t{4} * 1024 * 1024;
  double denied_seconds = 1;
};

void add_store_options(CLI::App& command, StoreOptions& options);

// Sets what concerns shared stores. Throws CLI::ValidationError for an address that is none, and what a settings file
// says wrongly.
void apply_store_options(const StoreOptions& options, const Environment& environment, server::ServerSettings& settings);

}  // namespace penstock::cli
