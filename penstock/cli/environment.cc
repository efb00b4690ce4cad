#include "penstock/cli/environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "penstock/cli/commands.h"

namespace penstock::cli {
namespace {

using Problem = std::optional<std::string>;  // what would be accepted

// As strconv.ParseBool of Go.
Problem read(std::string_view text, std::optional<bool>& into) {
  static constexpr std::array<std::string_view, 6> kTrue{"1", "t", "T", "TRUE", "true", "True"};
  static constexpr std::array<std::string_view, 6> kFalse{"0", "f", "F", "FALSE", "false", "False"};
  const bool yes = std::ranges::find(kTrue, text) != kTrue.end();
  if (!yes && std::ranges::find(kFalse, text) == kFalse.end()) {
    return "true or false (also 1, t, T, TRUE, True, 0, f, F, FALSE, False)";
  }
  into = yes;
  return std::nullopt;
}

Problem read(std::string_view text, std::optional<float>& into) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  float ratio = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ratio);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  if (!whole || !std::isfinite(ratio) || ratio < 0) return "a number from 0, 0.8 is usual";
  into = ratio;
  return std::nullopt;
}

Problem read(std::string_view text, std::optional<std::int64_t>& into) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return "a whole number";
  into = number;
  return std::nullopt;
}

Problem read(std::string_view text, std::optional<std::string>& into) {
  into = text;
  return std::nullopt;
}

Problem read_backend(std::string_view text, Environment& into) {
  if (!text.empty() && text != "redis") {
    return "redis, or nothing (there is no memcached here)";
  }
  into.backend = text;
  return std::nullopt;
}

struct Entry {
  Variable variable;
  Problem (*take)(std::string_view text, Environment& into);
};

template <auto Member>
Problem take(std::string_view text, Environment& into) {
  return read(text, into.*Member);
}

template <auto Names, auto Name>
Problem take_name(std::string_view text, Environment& into) {
  into.*Names.*Name = text;
  return std::nullopt;
}

template <auto Part, auto Member>
Problem take_of(std::string_view text, Environment& into) {
  return read(text, into.*Part.*Member);
}

template <auto Part>
Problem take_type(std::string_view text, Environment& into) {
  std::string upper{text};
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  if (upper != "SINGLE" && upper != "SENTINEL" && upper != "CLUSTER") return "SINGLE, SENTINEL or CLUSTER";
  into.*Part.*(&RedisVariables::type) = upper;
  return std::nullopt;
}

template <auto Part>
Problem take_socket_type(std::string_view text, Environment& into) {
  if (text != "tcp" && text != "unix") return "tcp or unix";
  into.*Part.*(&RedisVariables::socket_type) = text;
  return std::nullopt;
}

constexpr std::array<std::string_view, 3> kAboutStores{"CACHE_KEY_PREFIX", "EXPIRATION_JITTER_MAX_SECONDS",
                                                       "LOCAL_CACHE_SIZE_IN_BYTES"};

using Names = protocol::HeaderNames;
constexpr auto kResponse = &Environment::response_header_names;
constexpr auto kRequest = &Environment::request_header_names;

constexpr auto kRedis = &Environment::redis;
constexpr auto kPerSecond = &Environment::redis_per_second;
constexpr auto kTls = &Environment::redis_tls;

constexpr std::array<Entry, 36> kEntries{{
    {{"FORCE_START_WITHOUT_INITIAL_CONFIG", "false", "start although the rules cannot be used; --start-without-rules"},
     take<&Environment::start_without_rules>},
    {{"MERGE_DOMAIN_CONFIG", "false", "several files may add to one domain; --merge-domains"},
     take<&Environment::merge_domains>},
    {{"SHADOW_MODE", "false", "refuse nothing as a whole; --shadow-mode"}, take<&Environment::shadow_mode>},
    {{"QUOTA_MODE", "false", "every rule is in quota mode; --quota-mode"}, take<&Environment::quota_mode>},
    {{"RESPONSE_DYNAMIC_METADATA", "false", "dynamic metadata in replies; --dynamic-metadata"},
     take<&Environment::dynamic_metadata>},
    {{"LIMIT_RESPONSE_HEADERS_ENABLED", "false", "headers for who is answered; --response-headers"},
     take<&Environment::response_headers>},
    {{"LIMIT_LIMIT_HEADER", "RateLimit-Limit", "their names; --response-header-names"},
     take_name<kResponse, &Names::limit>},
    {{"LIMIT_REMAINING_HEADER", "RateLimit-Remaining", ""}, take_name<kResponse, &Names::remaining>},
    {{"LIMIT_RESET_HEADER", "RateLimit-Reset", ""}, take_name<kResponse, &Names::reset>},
    {{"LIMIT_REQUEST_HEADERS_ENABLED", "false", "headers for the service behind the proxy; --request-headers"},
     take<&Environment::request_headers>},
    {{"LIMIT_REQUEST_LIMIT_HEADER", "RateLimit-Limit", "their names; --request-header-names"},
     take_name<kRequest, &Names::limit>},
    {{"LIMIT_REQUEST_REMAINING_HEADER", "RateLimit-Remaining", ""}, take_name<kRequest, &Names::remaining>},
    {{"LIMIT_REQUEST_RESET_HEADER", "RateLimit-Reset", ""}, take_name<kRequest, &Names::reset>},
    {{"NEAR_LIMIT_RATIO", "0.8", "share of a limit from which on hits are near it; --near-limit-ratio"},
     take<&Environment::near_limit_ratio>},
    {{"STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", "false", "charge only what is over; --spare-others"},
     take<&Environment::spare_others>},
    {{"CACHE_KEY_PREFIX", "", "before every key in the store; --key-prefix"}, take<&Environment::key_prefix>},
    {{"EXPIRATION_JITTER_MAX_SECONDS", "300", "keys of windows live longer by up to that; --key-jitter-seconds"},
     take<&Environment::jitter_seconds>},
    {{"LOCAL_CACHE_SIZE_IN_BYTES", "0", "what is over is refused without asking the store; --denied-cache-bytes"},
     take<&Environment::local_cache_bytes>},
    {{"BACKEND_TYPE", "", "redis, the only one"}, read_backend},
    {{"REDIS_URL", "", "the shared store; --store"}, take_of<kRedis, &RedisVariables::url>},
    {{"REDIS_SOCKET_TYPE", "unix", "what REDIS_URL is without a scheme: tcp or unix"}, take_socket_type<kRedis>},
    {{"REDIS_TYPE", "SINGLE", "SINGLE, SENTINEL or CLUSTER"}, take_type<kRedis>},
    {{"REDIS_AUTH", "", "PASSWORD or USER:PASSWORD; --store-password-file"}, take_of<kRedis, &RedisVariables::auth>},
    {{"REDIS_SENTINEL_AUTH", "", "the same for sentinels"}, take_of<kRedis, &RedisVariables::sentinel_auth>},
    {{"REDIS_TLS", "false", "TLS with it, as with rediss"}, take_of<kRedis, &RedisVariables::tls>},
    {{"REDIS_TLS_CACERT", "", "authorities; --store-ca"}, take_of<kTls, &RedisTlsVariables::ca>},
    {{"REDIS_TLS_CLIENT_CERT", "", "our certificate; --store-certificate"},
     take_of<kTls, &RedisTlsVariables::certificate>},
    {{"REDIS_TLS_CLIENT_KEY", "", "its key; --store-key"}, take_of<kTls, &RedisTlsVariables::key>},
    {{"REDIS_TLS_SKIP_HOSTNAME_VERIFICATION", "false", "take any name in its certificate"},
     take_of<kTls, &RedisTlsVariables::skip_host_name>},
    {{"REDIS_PERSECOND", "false", "another store for limits per second"}, take<&Environment::redis_per_second_wanted>},
    {{"REDIS_PERSECOND_URL", "", "its address; --store-per-second"}, take_of<kPerSecond, &RedisVariables::url>},
    {{"REDIS_PERSECOND_SOCKET_TYPE", "unix", "as the common one's, like the following"}, take_socket_type<kPerSecond>},
    {{"REDIS_PERSECOND_TYPE", "SINGLE", ""}, take_type<kPerSecond>},
    {{"REDIS_PERSECOND_AUTH", "", ""}, take_of<kPerSecond, &RedisVariables::auth>},
    {{"REDIS_PERSECOND_SENTINEL_AUTH", "", ""}, take_of<kPerSecond, &RedisVariables::sentinel_auth>},
    {{"REDIS_PERSECOND_TLS", "false", ""}, take_of<kPerSecond, &RedisVariables::tls>},
}};

// The table without the functions.
constexpr auto kVariables = [] {
  std::array<Variable, kEntries.size()> variables{};
  for (std::size_t i = 0; i < kEntries.size(); ++i) variables[i] = kEntries[i].variable;
  return variables;
}();

}  // namespace

std::span<const Variable> variables() noexcept { return kVariables; }

std::expected<Environment, std::vector<std::string>> read_environment(const Lookup& lookup) {
  Environment environment;
  std::vector<std::string> mistakes;
  for (const Entry& entry : kEntries) {
    const std::string_view name = entry.variable.name;
    const std::optional<std::string> text = lookup(name);
    if (!text) continue;
    if (const Problem accepted = entry.take(*text, environment)) {
      mistakes.push_back(fmt::format("{}='{}' in the environment; accepted is {}", name, *text, *accepted));
    }
    if (std::ranges::find(kAboutStores, name) != kAboutStores.end()) environment.about_stores.push_back(name);
  }
  if (!mistakes.empty()) return std::unexpected{std::move(mistakes)};
  return environment;
}

std::optional<std::string> process_variable(std::string_view name) {
  const char* const text = std::getenv(std::string{name}.c_str());  // NOLINT(concurrency-mt-unsafe): before any thread
  if (text == nullptr) return std::nullopt;
  return text;
}

Environment environment_or_end() {
  auto environment = read_environment(process_variable);
  if (environment) return *std::move(environment);
  for (const std::string& mistake : environment.error()) fmt::print(stderr, "penstock: {}\n", mistake);
  throw CLI::RuntimeError{kWrongUse};
}

}  // namespace penstock::cli
