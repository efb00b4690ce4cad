#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/rules/rule_set.h"

namespace penstock::rules {

enum class ChangeKind : std::uint8_t { added, removed, changed };

// "added", "removed", "changed"
[[nodiscard]] std::string_view to_string(ChangeKind kind) noexcept;

// What one rule, level or domain becomes.
struct Change {
  ChangeKind kind = ChangeKind::changed;
  std::string path;    // "domain.key_value"; of a domain its name
  std::string text;    // what changes, in words
  bool shout = false;  // a limit that is gone, refuses all or nothing, or is tenfold or a tenth
  Place place;         // in the new rules, or in the old ones where it is gone
};

// A rate or burst that changes by this factor or more is shouted.
inline constexpr double kShoutFactor = 10;

// What changes for whom when `before` is replaced by `after`, by path: limits in words with their factor, what happens
// to counters, modes, and the order of wildcards where it decides. What changes for nobody is left out.
[[nodiscard]] std::vector<Change> compare(const RuleSet& before, const RuleSet& after);

}  // namespace penstock::rules
