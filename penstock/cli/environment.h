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
  std::vector<std::string_view> without_effect;  // names of set variables that change nothing for counters in here
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
