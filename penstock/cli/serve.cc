#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "penstock/cli/commands.h"
#include "penstock/cli/environment.h"
#include "penstock/cli/load_rules.h"
#include "penstock/cli/serve_options.h"
#include "penstock/server/address.h"
#include "penstock/server/log.h"
#include "penstock/server/server.h"

namespace penstock::cli {
namespace {

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

void tell_of_variables(const Environment& environment, const server::ServerSettings& settings) {
  const bool shared = !settings.shared_stores.empty();
  if (!environment.about_stores.empty() && !shared) {
    spdlog::info("{}: no effect, since counters live in this process", fmt::join(environment.about_stores, ", "));
  }
  if (environment.backend && !shared) {
    spdlog::warn("BACKEND_TYPE is '{}', but there is no REDIS_URL: counters live in this process",
                 *environment.backend);
  }
  if (settings.near_limit_ratio > 1) {
    spdlog::warn("the near-limit ratio is {}: above 1 no hit is ever near its limit", settings.near_limit_ratio);
  }
  if (settings.shadow_mode) spdlog::warn("shadow mode for all rules: no request is refused");
}

std::vector<std::string> names_of(const server::ServerSettings& settings) {
  std::vector<std::string> names;
  for (const server::SharedStoreSettings& store : settings.shared_stores) {
    if (!store.name.empty()) names.push_back(store.name);
  }
  return names;
}

void tell_of_stores(const server::ServerSettings& settings) {
  if (settings.shared_stores.empty()) {
    if (settings.fleet_size > 1) return;
    spdlog::info("counters live in this process: several replicas admit each limit once each");
    return;
  }
  for (const server::SharedStoreSettings& store : settings.shared_stores) {
    const std::string_view whose = store.per_second ? "limits per second" : store.name.empty() ? "all limits" : "";
    spdlog::info("counters of {} are in {}", whose.empty() ? fmt::format("store '{}'", store.name) : whose,
                 store.address);
  }
}

void run(const ServeOptions& options) {
  const Environment environment = environment_or_end();
  const server::ServerSettings settings = settings_of(options, environment);
  const auto format = options.log_format == "json" ? server::LogFormat::json : server::LogFormat::text;
  server::start_log(format, server::parse_log_level(options.log_level).value_or(spdlog::level::info));
  const auto loaded = load_rules(
      options.rules, {.merge_domains = merges_domains(options, environment), .stores = names_of(settings)},
      [](Severity severity, const Error& error) {
        spdlog::log(severity == Severity::error ? spdlog::level::err : spdlog::level::warn, "{}", to_string(error));
      });
  if (!loaded && starts_without_rules(options, environment)) {
    spdlog::warn("no rules, for the reasons above: every request is answered with an error until the next start");
  } else if (!loaded) {
    spdlog::error(
        "nothing is served: the rules cannot be used, for the reasons above; `penstock check` says the same without "
        "serving");
    throw CLI::RuntimeError{kNo};
  }
  const auto opened = server::Server::open(settings, loaded ? loaded->rules : nullptr);
  if (!opened) {
    spdlog::error("{}", opened.error().message);
    throw CLI::RuntimeError{kNoAnswer};
  }
  server::Server& server = **opened;
  tell_of_stores(settings);
  tell_of_variables(environment, settings);
  warn_of_open_ports(server, settings);
  const auto debug = server.debug_address();
  spdlog::info("ready: grpc {}, http {}, debug {}, {}", to_string(server.grpc_address()),
               to_string(server.http_address()), debug ? to_string(*debug) : "off",
               loaded ? describe(*loaded->rules) : "no rules");
  const bool ended_in_time = server.run();
  spdlog::info("stopped{}", ended_in_time ? "" : "; some connections had to be closed");
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Answer rate limit requests by rule files");
  add_serve_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace penstock::cli
