#pragma once

#include <string>
#include <vector>

#include "penstock/cli/check_sources.h"
#include "penstock/rules/difference.h"
#include "penstock/rules/rule.h"

namespace penstock::cli {

// "'d.api_key': 600 per minute, gcra, burst 20; at most 620 in any minute (burst 20 + 600); exact; 24 bytes a key": a
// line for each limit of a rule.
[[nodiscard]] std::vector<std::string> report_rule(const rules::Rule& rule);

// The whole check as one JSON document, with a line break at its end; docs/check.md describes it.
[[nodiscard]] std::string report_json(const CheckedRules& checked);

// What changes, a line each, those that are shouted first and in capitals; and the same as JSON.
[[nodiscard]] std::string report_changes(const std::vector<rules::Change>& changes);
[[nodiscard]] std::string report_changes_json(const std::vector<rules::Change>& changes);

}  // namespace penstock::cli
