#pragma once

#include <optional>
#include <span>
#include <vector>

#include "penstock/rules/draft.h"
#include "penstock/rules/findings.h"
#include "penstock/rules/rule.h"

namespace penstock::rules {

// The limit that a `rate_limit` describes; nullopt if something is wrong with it, which is then among the findings.
// Requires: not `unlimited`.
[[nodiscard]] std::optional<RuleLimit> make_limit(const LimitDraft& draft, Findings& findings);

// The limits of a `rate_limits`, ranked. Those that are wrong are left out.
[[nodiscard]] std::vector<RuleLimit> make_limits(std::span<const LimitDraft> drafts, Findings& findings);

// What `unlimited: true` forbids.
void check_unlimited(const LimitDraft& draft, Findings& findings);

}  // namespace penstock::rules
