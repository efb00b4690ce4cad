#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/protocol/reply_options.h"

namespace penstock::cli {

// Of the common Redis, or of the one for limits per second.
struct RedisVariables {
  std::optional<std::string> socket_type;
  std::optional<std::string> type;
  std::optional<std::string> url;
  std::optional<std::string> auth;
  std::optional<std::string> sentinel_auth;
  std::optional<bool> tls;
};

struct RedisTlsVariables {
  std::optional<std::string> ca;
  std::optional<std::string> certificate;
  std::optional<std::string> key;
  std::optional<bool> skip_host_name;
};

// What the variables of envoyproxy/ratelimit say, where they are set. A variable that is set but empty is a value: an
// empty text, and a mistake where a boolean or a number is wanted.
struct Environment {
  std::optional<bool> merge_domains;
  std::optional<bool> start_without_rules;
  std::optional<bool> shadow_mode;
  std::optional<bool> quota_mode;
  std::optional<bool> spare_others;
  std::optional<float> near_limit_ratio;
  std::optional<bool> dynamic_metadata;
  std::optional<bool> response_headers;
  protocol::HeaderNames response_header_names;
  std::optional<bool> request_headers;
  protocol::HeaderNames request_header_names;
  std::optional<std::string> backend;
  std::optional<std::string> key_prefix;
  std::optional<std::int64_t> jitter_seconds;
  std::optional<std::int64_t> local_cache_bytes;
  RedisVariables redis;
  RedisVariables redis_per_second;
  std::optional<bool> redis_per_second_wanted;
  RedisTlsVariables redis_tls;
  std::vector<std::string_view> about_stores;  // names of set variables that matter only with a shared store
};

struct Variable {
  std::string_view name;
  std::string_view preset;   // its value where it is not set
  std::string_view meaning;  // in a few words
};

// The variables that are read, in the order of the table of the original's manual.
[[nodiscard]] std::span<const Variable> variables() noexcept;

using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

// Reads all variables. Errors: one line for each bad value, with name, value and what is accepted. What is not in the
// table is never looked at.
[[nodiscard]] std::expected<Environment, std::vector<std::string>> read_environment(const Lookup& lookup);

// A variable of this process. Threading: not while another thread changes the environment.
[[nodiscard]] std::optional<std::string> process_variable(std::string_view name);

// The environment of this process for a command; prints mistakes and throws CLI::RuntimeError{kWrongUse}.
[[nodiscard]] Environment environment_or_end();

}  // namespace penstock::cli
