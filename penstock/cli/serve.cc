#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "penstock/cli/commands.h"
#include "penstock/cli/load_rules.h"
#include "penstock/server/address.h"
#include "penstock/server/log.h"
#include "penstock/server/server.h"
#include "penstock/store/memory/table.h"

namespace penstock::cli {
namespace {

struct ServeOptions {
  std::vector<std::string> rules;
  bool merge_domains = false;
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
  server::ServerSettings settings;
};

server::Address address_of(const std::string& text, const char* option) {
  auto address = server::parse_address(text);
  if (!address) throw CLI::ValidationError{option, address.error().message};
  return *address;
}

std::optional<server::Address> debug_address_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto address = server::parse_address(text);
  if (!address) throw CLI::ValidationError{"--debug", address.error().message + "; '' is for no debug port"};
  return *address;
}

server::ServerSettings settings_of(const ServeOptions& options) {
  server::ServerSettings settings = options.settings;
  settings.grpc = address_of(options.grpc, "--grpc");
  settings.http = address_of(options.http, "--http");
  settings.debug = debug_address_of(options.debug);
  settings.patience.request = std::chrono::seconds{options.request_seconds};
  settings.patience.idle = std::chrono::seconds{options.idle_seconds};
  settings.drain = std::chrono::seconds{options.drain_seconds};
  settings.grace = std::chrono::seconds{options.grace_seconds};
  settings.allow_negative_hits = options.allow_negative_hits == "true";
  return settings;
}

// What an operator may not expect of ports that others can reach.
void warn_of_open_ports(const server::Server& server, const server::ServerSettings& settings) {
  if (!settings.allow_negative_hits) return;
  std::vector<std::string> open;
  if (const auto grpc = server.grpc_address(); !server::is_loopback(grpc)) open.push_back("grpc " + to_string(grpc));
  if (const auto http = server.http_address(); !server::is_loopback(http)) open.push_back("http " + to_string(http));
  if (open.empty()) return;
  spdlog::warn(
      "open beyond this machine: {}; whoever reaches that may give hits back (is_negative_hits): "
      "let only proxies reach it, or refuse refunds with --allow-negative-hits false",
      fmt::join(open, ", "));
}

void run(const ServeOptions& options) {
  const server::ServerSettings settings = settings_of(options);
  const auto format = options.log_format == "json" ? server::LogFormat::json : server::LogFormat::text;
  server::start_log(format, server::parse_log_level(options.log_level).value_or(spdlog::level::info));
  const auto loaded = load_rules(options.rules, options.merge_domains, [](Severity severity, const Error& error) {
    spdlog::log(severity == Severity::error ? spdlog::level::err : spdlog::level::warn, "{}", to_string(error));
  });
  if (!loaded) {
    spdlog::error(
        "nothing is served: the rules cannot be used, for the reasons above; `penstock check` says the same without "
        "serving");
    throw CLI::RuntimeError{kNo};
  }
  const auto opened = server::Server::open(settings, loaded->rules);
  if (!opened) {
    spdlog::error("{}", opened.error().message);
    throw CLI::RuntimeError{kNoAnswer};
  }
  server::Server& server = **opened;
  spdlog::info("counters live in this process: several replicas admit each limit once each");
  warn_of_open_ports(server, settings);
  const auto debug = server.debug_address();
  spdlog::info("ready: grpc {}, http {}, debug {}, {}", to_string(server.grpc_address()),
               to_string(server.http_address()), debug ? to_string(*debug) : "off", describe(*loaded->rules));
  const bool ended_in_time = server.run();
  spdlog::info("stopped{}", ended_in_time ? "" : "; some connections had to be closed");
}

void add_patience_options(CLI::App& command, ServeOptions& options) {
  command
      .add_option("--request-seconds", options.request_seconds,
                  "A request that is not whole so long after its beginning is reset (HTTP/2), or answered 408")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command
      .add_option("--idle-seconds", options.idle_seconds,
                  "HTTP/1 connections without a request end after so long; HTTP/2 ones are kept")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
}

void add_network_options(CLI::App& command, ServeOptions& options) {
  command.add_option("--grpc", options.grpc, "Where Envoy asks: HOST:PORT, port 0 for any free one")
      ->type_name("ADDR")
      ->capture_default_str();
  command.add_option("--http", options.http, "Port of /json and /healthcheck")
      ->type_name("ADDR")
      ->capture_default_str();
  command
      .add_option("--debug", options.debug,
                  "Port of /rlconfig, /stats and /healthz for operators; '' for none. Open it on loopback only")
      ->type_name("ADDR")
      ->capture_default_str();
  command
      .add_option("--max-connections", options.settings.max_connections,
                  "Connections on both ports together, three quarters of them on one; further ones are closed")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      .add_option("--max-connections-per-address", options.settings.max_connections_per_address,
                  "Of these from one IPv4 address, or one IPv6 network of 64 bits; 0 is half of them")
      ->type_name("COUNT")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  add_patience_options(command, options);
  command
      .add_option("--drain-seconds", options.drain_seconds,
                  "After SIGTERM: health fails, requests are still served for so long")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  command
      .add_option("--grace-seconds", options.grace_seconds,
                  "After that: connections get so long to finish before they are closed")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
}

void add_resource_options(CLI::App& command, ServeOptions& options) {
  command.add_option("--threads", options.settings.threads, "Event loops; 0 is one a core")
      ->type_name("COUNT")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  CLI::Option* keys = command
                          .add_option("--table-keys", options.settings.table_keys,
                                      "Counters that the embedded store can hold, 24 bytes each, 48 with a peak and in "
                                      "sliding windows and logs; when full, the least used go")
                          ->type_name("COUNT")
                          ->check(CLI::Range(store::Table::kMinCapacityKeys, store::Table::kMaxCapacityKeys))
                          ->capture_default_str();
  command
      .add_option(
          "--table-bytes", options.settings.table_bytes,
          "In place of --table-keys: the memory for counters, beside 64 MiB at most for sliding logs; default off")
      ->type_name("BYTES")
      ->check(CLI::Range(store::Table::kMinCapacityBytes, store::Table::kMaxCapacityBytes))
      ->excludes(keys);
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Answer rate limit requests by rule files");
  command->add_option("--rules", options->rules, "Rule files, or folders with *.yaml, *.yml and *.json")
      ->required()
      ->type_name("PATH");
  command->add_flag("--merge-domains", options->merge_domains,
                    "Several files may add to one domain (the original's MERGE_DOMAIN_CONFIG); default off");
  add_network_options(*command, *options);
  add_resource_options(*command, *options);
  command
      ->add_option("--near-limit-ratio", options->settings.near_limit_ratio,
                   "Share of a limit from which on hits count as near it, in statistics")
      ->type_name("RATIO")
      ->check([](const std::string& text) {
        float ratio = -1;
        const bool usable = CLI::detail::lexical_cast(text, ratio) && std::isfinite(ratio) && ratio >= 0;
        return usable ? std::string{} : fmt::format("{} is no ratio; accepted is 0 or more, 0.8 is usual", text);
      })
      ->capture_default_str();
  command
      ->add_option("--allow-negative-hits", options->allow_negative_hits,
                   "Callers may give hits back, as in the original; false: INVALID_ARGUMENT for is_negative_hits")
      ->check(CLI::IsMember({"true", "false"}))
      ->type_name("BOOL")
      ->capture_default_str();
  command->add_option("--log-format", options->log_format, "text or json, one line an event, on standard error")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("--log-level", options->log_level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "warning", "error"}))
      ->type_name("LEVEL")
      ->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace penstock::cli
