#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/rules/rule_set.h"

namespace penstock::protocol {

// Texts of the debug port. They hold names out of rule files, never what callers sent.

// The /rlconfig of envoyproxy/ratelimit: a line for each limit, sorted by path,
//   <path>: unit=<NAME> requests_per_unit=<n>, shadow_mode: <bool>, quota_mode: <bool>
// where an unlimited rule has the unit UNKNOWN, and a rule with a list of limits one line for each of them. What the
// original does not have follows in words: ", limit: 10 per second, gcra, burst 20".
[[nodiscard]] std::string list_limits(const rules::RuleSet& rules);

struct Figure {
  std::string name;
  std::uint64_t value = 0;
};

// A line "name value" for each, sorted by name.
[[nodiscard]] std::string list_figures(std::vector<Figure> figures);

// "name{label="value"}"; quotes, backslashes and control characters of the value are escaped.
[[nodiscard]] std::string labelled(std::string_view name, std::string_view label, std::string_view value);

}  // namespace penstock::protocol
