#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/cli/environment.h"
#include "penstock/cli/store_options.h"
#include "penstock/server/server.h"

namespace penstock::cli {

// What the command line of `serve` says. Options that variables of the environment stand for as well are absent unless
// given: then the variable counts, then the default.
struct ServeOptions {
  std::vector<std::string> rules;
  bool merge_domains = false;
  std::optional<std::string> start_without_rules;  // these: "true" or "false"
  std::optional<std::string> shadow_mode;
  std::optional<std::string> quota_mode;
  std::optional<std::string> spare_others;
  std::optional<float> near_limit_ratio;
  std::optional<std::string> dynamic_metadata;
  std::optional<std::string> response_headers;
  std::vector<std::string> response_header_names;  // three, or none
  std::optional<std::string> request_headers;
  std::vector<std::string> request_header_names;
  std::string who_decided = "none";
  std::string grpc = "0.0.0.0:8081";
  std::string http = "0.0.0.0:8080";
  std::string debug = "127.0.0.1:6070";
  std::uint32_t request_seconds = 10;
  std::uint32_t idle_seconds = 60;
  std::uint32_t drain_seconds = 5;
  std::uint32_t grace_seconds = 10;
  std::string allow_negative_hits = "true";
  std::string log_format = "text";
  std::string log_level = "info";
  StoreOptions stores;
  server::ServerSettings settings;
};

// Adds all options of `serve`.
void add_serve_options(CLI::App& command, ServeOptions& options);

// The settings of the server: flags, then the environment, then defaults. Throws CLI::ValidationError for addresses
// that are none.
[[nodiscard]] server::ServerSettings settings_of(const ServeOptions& options, const Environment& environment);

[[nodiscard]] bool merges_domains(const ServeOptions& options, const Environment& environment);
[[nodiscard]] bool starts_without_rules(const ServeOptions& options, const Environment& environment);

}  // namespace penstock::cli
