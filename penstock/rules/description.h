#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/rules/rule.h"

namespace penstock::rules {

// "minute", "10 minutes".
[[nodiscard]] std::string describe_time(std::uint32_t multiplier, Unit unit);

// What a limit is, in words: "600 per minute, gcra, burst 20", "5 per 10 seconds, sliding_window, windows begin at an
// offset per key". What is as in envoyproxy/ratelimit is left out, but that refused hits count.
[[nodiscard]] std::string describe_limit(const RuleLimit& limit);

// A line for each limit of the rule, "'example.tenant': 5 per second, gcra, burst 5", with its modes.
[[nodiscard]] std::vector<std::string> describe_rule(const Rule& rule);

}  // namespace penstock::rules
