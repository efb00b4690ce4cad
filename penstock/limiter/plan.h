#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/base/hash.h"
#include "penstock/limiter/check.h"
#include "penstock/rules/rule_set.h"

namespace penstock::limiter {

// What one descriptor comes to before any counter is asked.
struct Plan {
  static constexpr std::uint32_t kNoOverride = 0xffff'ffff;

  rules::Match match;
  std::uint64_t hits = 1;
  std::uint32_t override_index = kNoOverride;
  std::uint32_t first_decision = 0;  // of its limits, among the decisions of its check
  bool negative = false;
  bool replaced = false;  // another limit of the same check names this one in `replaces`
  bool joined = false;    // its limits are in one group with those of other descriptors

  [[nodiscard]] bool is_override() const noexcept { return override_index != kNoOverride; }

  // The limits to charge: none, a rule's, or the override.
  [[nodiscard]] std::span<const rules::RuleLimit> limits(std::span<const rules::RuleLimit> overrides) const noexcept {
    if (is_override()) return overrides.subspan(override_index, 1);
    if (match.rule == nullptr || replaced) return {};
    return match.rule->limits;
  }
};

// The plans of a batch's descriptors, and the limits that came with them. Reused from batch to batch.
struct Plans {
  std::vector<Plan> descriptors;
  std::vector<rules::RuleLimit> overrides;
  std::vector<std::string_view> replaced_names;  // of the check at hand

  void clear() noexcept {
    descriptors.clear();
    overrides.clear();
  }
};

// Appends a plan for each descriptor of `check`. Errors leave nothing behind: the texts of envoyproxy/ratelimit for an
// empty domain and an empty list, invalid_argument for an override with an unknown unit.
// `domain_known` says whether any rule file names the domain.
[[nodiscard]] std::expected<void, Error> plan_check(const rules::RuleSet& rules, const Check& check, HashKey key,
                                                    Plans& plans, bool& domain_known);

// Errors: invalid_argument, naming the first descriptor that would give hits back.
[[nodiscard]] std::expected<void, Error> require_no_refund(const Check& check);

}  // namespace penstock::limiter
