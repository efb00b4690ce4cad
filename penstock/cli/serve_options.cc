#include "penstock/cli/serve_options.h"

#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "penstock/cli/commands.h"
#include "penstock/server/address.h"
#include "penstock/store/memory/table.h"

namespace penstock::cli {
namespace {

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

// A flag, else its variable, else false.
bool chosen(const std::optional<std::string>& flag, const std::optional<bool>& variable) {
  return flag ? *flag == "true" : variable.value_or(false);
}

std::optional<protocol::HeaderNames> headers_of(bool wanted, const std::vector<std::string>& given,
                                                const protocol::HeaderNames& names) {
  if (!wanted) return std::nullopt;
  if (given.empty()) return names;
  return protocol::HeaderNames{.limit = given[0], .remaining = given[1], .reset = given[2]};
}

protocol::ReplyOptions replies_of(const ServeOptions& options, const Environment& environment) {
  return {.response_headers = headers_of(chosen(options.response_headers, environment.response_headers),
                                         options.response_header_names, environment.response_header_names),
          .request_headers = headers_of(chosen(options.request_headers, environment.request_headers),
                                        options.request_header_names, environment.request_header_names),
          .dynamic_metadata = chosen(options.dynamic_metadata, environment.dynamic_metadata),
          .decider_header = options.who_decided == "header" || options.who_decided == "both",
          .decider_metadata = options.who_decided == "metadata" || options.who_decided == "both"};
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

void add_boolean(CLI::App& command, const std::string& name, std::optional<std::string>& option,
                 const std::string& meaning) {
  command.add_option(name, option, meaning)
      ->check(CLI::IsMember({"true", "false"}))
      ->type_name("BOOL")
      ->default_str("false");
}

void add_header_names(CLI::App& command, const std::string& name, std::vector<std::string>& names,
                      const std::string& meaning) {
  command.add_option(name, names, meaning)
      ->delimiter(',')
      ->expected(3)
      ->type_name("NAMES")
      ->default_str("RateLimit-Limit,RateLimit-Remaining,RateLimit-Reset");
}

void add_mode_options(CLI::App& command, ServeOptions& options) {
  add_boolean(command, "--shadow-mode", options.shadow_mode, "Count, but refuse no request as a whole (SHADOW_MODE)");
  add_boolean(command, "--quota-mode", options.quota_mode,
              "Refuse a request only where all its descriptors are over their limits (QUOTA_MODE)");
  add_boolean(command, "--spare-others", options.spare_others,
              "Where a limit of a request is over, charge only those that are over "
              "(STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT)");
  command
      .add_option("--near-limit-ratio", options.near_limit_ratio,
                  "Share of a limit from which on hits count as near it, in statistics (NEAR_LIMIT_RATIO)")
      ->type_name("RATIO")
      ->default_str("0.8")
      ->check([](const std::string& text) {
        float ratio = -1;
        const bool usable = CLI::detail::lexical_cast(text, ratio) && std::isfinite(ratio) && ratio >= 0;
        return usable ? std::string{} : fmt::format("{} is no ratio; accepted is 0 or more, 0.8 is usual", text);
      });
}

void add_reply_options(CLI::App& command, ServeOptions& options) {
  add_boolean(command, "--response-headers", options.response_headers,
              "Three headers with limit, remaining and reset for who is answered (LIMIT_RESPONSE_HEADERS_ENABLED)");
  add_header_names(command, "--response-header-names", options.response_header_names,
                   "Their names (LIMIT_LIMIT_HEADER, LIMIT_REMAINING_HEADER, LIMIT_RESET_HEADER)");
  add_boolean(command, "--request-headers", options.request_headers,
              "The same for the service behind the proxy (LIMIT_REQUEST_HEADERS_ENABLED)");
  add_header_names(command, "--request-header-names", options.request_header_names,
                   "Their names (LIMIT_REQUEST_LIMIT_HEADER and so on)");
  add_boolean(command, "--dynamic-metadata", options.dynamic_metadata,
              "The request and the metadata of its rules in every reply (RESPONSE_DYNAMIC_METADATA)");
  command
      .add_option("--who-decided", options.who_decided,
                  "Name the deciding rule and limit, values hashed, in the header x-penstock-limit, in dynamic "
                  "metadata, or both")
      ->check(CLI::IsMember({"none", "header", "metadata", "both"}))
      ->type_name("WHERE")
      ->capture_default_str();
}

}  // namespace

server::ServerSettings settings_of(const ServeOptions& options, const Environment& environment) {
  server::ServerSettings settings = options.settings;
  settings.grpc = address_of(options.grpc, "--grpc");
  settings.http = address_of(options.http, "--http");
  settings.debug = debug_address_of(options.debug);
  settings.patience.request = std::chrono::seconds{options.request_seconds};
  settings.patience.idle = std::chrono::seconds{options.idle_seconds};
  settings.drain = std::chrono::seconds{options.drain_seconds};
  settings.grace = std::chrono::seconds{options.grace_seconds};
  settings.allow_negative_hits = options.allow_negative_hits == "true";
  settings.near_limit_ratio = options.near_limit_ratio.value_or(environment.near_limit_ratio.value_or(0.8F));
  settings.shadow_mode = chosen(options.shadow_mode, environment.shadow_mode);
  settings.quota_mode = chosen(options.quota_mode, environment.quota_mode);
  settings.spare_others = chosen(options.spare_others, environment.spare_others);
  settings.replies = replies_of(options, environment);
  apply_store_options(options.stores, environment, settings);
  return settings;
}

bool merges_domains(const ServeOptions& options, const Environment& environment) {
  return options.merge_domains || environment.merge_domains.value_or(false);
}

bool starts_without_rules(const ServeOptions& options, const Environment& environment) {
  return chosen(options.start_without_rules, environment.start_without_rules);
}

void add_serve_options(CLI::App& command, ServeOptions& options) {
  command.add_option("--rules", options.rules, "Rule files, or folders with *.yaml, *.yml and *.json")
      ->required()
      ->type_name("PATH");
  command.add_flag("--merge-domains", options.merge_domains,
                   "Several files may add to one domain (the original's MERGE_DOMAIN_CONFIG); default off");
  add_boolean(command, "--start-without-rules", options.start_without_rules,
              "Start although the rules cannot be used, and answer every request with an error that says so "
              "(FORCE_START_WITHOUT_INITIAL_CONFIG)");
  add_network_options(command, options);
  add_store_options(command, options.stores);
  add_resource_options(command, options);
  add_mode_options(command, options);
  add_reply_options(command, options);
  command
      .add_option("--allow-negative-hits", options.allow_negative_hits,
                  "Callers may give hits back, as in the original; false: INVALID_ARGUMENT for is_negative_hits")
      ->check(CLI::IsMember({"true", "false"}))
      ->type_name("BOOL")
      ->capture_default_str();
  command.add_option("--log-format", options.log_format, "text or json, one line an event, on standard error")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command.add_option("--log-level", options.log_level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "warning", "error"}))
      ->type_name("LEVEL")
      ->capture_default_str();
}

}  // namespace penstock::cli
