#include "penstock/cli/store_options.h"

#include <chrono>
#include <utility>

#include "penstock/cli/settings_file.h"
#include "penstock/server/store_url.h"

namespace penstock::cli {
namespace {

using server::SharedStoreSettings;
using server::StoreUrl;
using store::redis::Endpoint;
using store::redis::KeyFormat;
using store::redis::Topology;

std::vector<store::redis::Endpoint> with_tls(std::vector<Endpoint> endpoints, bool tls) {
  for (Endpoint& endpoint : endpoints) endpoint.tls = endpoint.tls || tls;
  return endpoints;
}

SharedStoreSettings settings_for(const StoreUrl& url) {
  SharedStoreSettings settings;
  settings.address = to_string(url);
  settings.redis.topology = url.topology;
  settings.redis.endpoints = url.endpoints;
  settings.redis.primary_name = url.primary_name;
  settings.redis.database = url.database;
  settings.redis.credentials = [credentials = url.credentials] { return credentials; };
  settings.redis.sentinel_credentials = [] { return store::redis::Credentials{}; };
  return settings;
}

// "password" or "user:password", the first colon splits.
store::redis::Credentials credentials_in(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {.user = {}, .password = text};
  return {.user = text.substr(0, colon), .password = text.substr(colon + 1)};
}

// The forms of REDIS_URL as a URL of ours.
std::string url_of(const RedisVariables& variables) {
  const std::string& text = *variables.url;
  if (text.find("://") != std::string::npos) return text;
  const std::string type = variables.type.value_or("SINGLE");
  if (CLI::detail::to_lower(type) == "cluster") return "redis+cluster://" + text;
  if (CLI::detail::to_lower(type) == "sentinel") {
    const std::size_t comma = text.find(',');
    return "redis+sentinel://" + (comma == std::string::npos ? "" : text.substr(comma + 1)) + "/" +
           text.substr(0, comma);
  }
  const bool is_path = variables.socket_type.value_or("unix") != "tcp";
  return (is_path ? "unix://" : "redis://") + text;
}

SharedStoreSettings settings_for(const RedisVariables& variables, const RedisTlsVariables& tls, const char* name) {
  const auto url = server::parse_store_url(url_of(variables));
  if (!url) throw CLI::ValidationError{name, url.error().message};
  SharedStoreSettings settings = settings_for(*url);
  settings.redis.endpoints = with_tls(settings.redis.endpoints, variables.tls.value_or(false));
  if (variables.auth) settings.redis.credentials = [given = credentials_in(*variables.auth)] { return given; };
  if (variables.sentinel_auth) {
    settings.redis.sentinel_credentials = [given = credentials_in(*variables.sentinel_auth)] { return given; };
  }
  settings.tls = {.ca_file = tls.ca.value_or(""),
                  .certificate_file = tls.certificate.value_or(""),
                  .key_file = tls.key.value_or(""),
                  .server_name = {},
                  .check_server_name = !tls.skip_host_name.value_or(false)};
  return settings;
}

SharedStoreSettings settings_for_url(const std::string& text, const char* option) {
  const auto url = server::parse_store_url(text);
  if (!url) throw CLI::ValidationError{option, url.error().message};
  return settings_for(*url);
}

void take_flags(const StoreOptions& options, SharedStoreSettings& settings) {
  if (!options.password_file.empty()) settings.password_file = options.password_file;
  const server::TlsSettings& tls = options.tls;
  if (!tls.ca_file.empty()) settings.tls.ca_file = tls.ca_file;
  if (!tls.certificate_file.empty()) settings.tls.certificate_file = tls.certificate_file;
  if (!tls.key_file.empty()) settings.tls.key_file = tls.key_file;
  if (!tls.server_name.empty()) settings.tls.server_name = tls.server_name;
}

void add_named(const StoreOptions& options, std::vector<SharedStoreSettings>& stores) {
  const auto named = read_settings_file(options.settings_file);
  if (!named) throw CLI::ValidationError{"--settings", to_string(named.error())};
  for (const NamedStore& each : *named) {
    SharedStoreSettings& settings = stores.emplace_back(settings_for_url(each.url, "--settings"));
    settings.name = each.name;
    settings.password_file = each.password_file;
    settings.tls = options.tls;
    if (!each.ca_file.empty()) settings.tls.ca_file = each.ca_file;
  }
}

void add_tls_options(CLI::App& command, StoreOptions& options) {
  command
      .add_option("--store-ca", options.tls.ca_file,
                  "With rediss: authorities that its certificate may be from (REDIS_TLS_CACERT); default off: the "
                  "system's")
      ->type_name("FILE");
  CLI::Option* certificate = command
                                 .add_option("--store-certificate", options.tls.certificate_file,
                                             "Our certificate for it (REDIS_TLS_CLIENT_CERT); default off")
                                 ->type_name("FILE");
  command.add_option("--store-key", options.tls.key_file, "Its key (REDIS_TLS_CLIENT_KEY); default off")
      ->type_name("FILE")
      ->needs(certificate);
  command
      .add_option("--store-server-name", options.tls.server_name,
                  "The name that its certificate must have; default off: the host's")
      ->type_name("NAME");
}

void add_key_options(CLI::App& command, StoreOptions& options) {
  command
      .add_option("--store-keys", options.keys,
                  "Keys of the original's windows: its text, so that both count together, or compact")
      ->check(CLI::IsMember({"original", "compact"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command.add_option("--key-prefix", options.key_prefix, "Before every key in the store (CACHE_KEY_PREFIX)")
      ->type_name("TEXT")
      ->default_str("''");
  command
      .add_option("--key-jitter-seconds", options.jitter_seconds,
                  "Keys of windows live longer by up to so long, at random (EXPIRATION_JITTER_MAX_SECONDS)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 86'400))
      ->default_str("300");
}

void add_failure_options(CLI::App& command, StoreOptions& options) {
  command
      .add_option("--on-store-failure", options.on_failure,
                  "What limits answer that say nothing themselves when the store gives no answer in time: an error, "
                  "allow, deny, or local: this node's share of the limit")
      ->check(CLI::IsMember({"error", "allow", "deny", "local"}))
      ->type_name("POLICY")
      ->capture_default_str();
  command.add_option("--fleet-size", options.fleet_size, "How many nodes there are, for the shares of `local`")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("COUNT")
      ->capture_default_str();
  command
      .add_option("--store-deadline-ms", options.deadline_ms,
                  "How long a request waits for the store; less where its caller waits less")
      ->check(CLI::Range(0.1, 60'000.0))
      ->type_name("MS")
      ->capture_default_str();
  command
      .add_option("--denied-cache-bytes", options.denied_bytes,
                  "Memory for refusals of the store that are repeated without asking it; 0 for none")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 40))
      ->type_name("BYTES")
      ->capture_default_str();
  command
      .add_option("--denied-cache-seconds", options.denied_seconds,
                  "For so long at most: what is given back on another node may show so much later")
      ->check(CLI::Range(0.0, 60.0))
      ->type_name("SECONDS")
      ->capture_default_str();
}

}  // namespace

void add_store_options(CLI::App& command, StoreOptions& options) {
  command
      .add_option("--store", options.url,
                  "A Redis that several nodes share (REDIS_URL); default off: counters live in this process. " +
                      std::string{server::kStoreUrlForms})
      ->type_name("URL");
  command
      .add_option("--store-per-second", options.per_second_url,
                  "Another one for limits per second (REDIS_PERSECOND_URL); default off")
      ->type_name("URL");
  command
      .add_option("--settings", options.settings_file,
                  "A YAML file that names further stores for `store` of rules; default off")
      ->type_name("FILE");
  command
      .add_option("--store-password-file", options.password_file,
                  "Its first line is the password for the store, read anew for each connection; default off")
      ->type_name("FILE");
  add_tls_options(command, options);
  add_key_options(command, options);
  add_failure_options(command, options);
}

void apply_store_options(const StoreOptions& options, const Environment& environment,
                         server::ServerSettings& settings) {
  std::vector<SharedStoreSettings>& stores = settings.shared_stores;
  if (!options.url.empty()) {
    stores.push_back(settings_for_url(options.url, "--store"));
  } else if (environment.redis.url) {
    stores.push_back(settings_for(environment.redis, environment.redis_tls, "REDIS_URL"));
  }
  const bool per_second = environment.redis_per_second_wanted.value_or(false) && environment.redis_per_second.url;
  if (!options.per_second_url.empty()) {
    stores.push_back(settings_for_url(options.per_second_url, "--store-per-second"));
    stores.back().per_second = true;
  } else if (per_second) {
    stores.push_back(settings_for(environment.redis_per_second, environment.redis_tls, "REDIS_PERSECOND_URL"));
    stores.back().per_second = true;
  }
  for (SharedStoreSettings& store : stores) take_flags(options, store);
  if (!options.settings_file.empty()) add_named(options, stores);
  for (SharedStoreSettings& store : stores) {
    store.redis.keys = options.keys == "compact" ? KeyFormat::compact : KeyFormat::original;
    store.redis.key_prefix = options.key_prefix.value_or(environment.key_prefix.value_or(""));
    store.redis.jitter_seconds = options.jitter_seconds.value_or(environment.jitter_seconds.value_or(300));
    store.redis.deadline = std::chrono::microseconds{static_cast<std::int64_t>(options.deadline_ms * 1'000)};
  }
  settings.on_store_failure = rules::on_store_failure_named(options.on_failure).value();
  settings.fleet_size = options.fleet_size;
  settings.denied_bytes = options.denied_bytes;
  settings.denied.longest = std::chrono::milliseconds{static_cast<std::int64_t>(options.denied_seconds * 1'000)};
  if (const std::int64_t bytes = environment.local_cache_bytes.value_or(0); bytes > 0) {
    settings.denied.original_windows = true;
    settings.denied_bytes += static_cast<std::size_t>(bytes);
  }
}

}  // namespace penstock::cli
