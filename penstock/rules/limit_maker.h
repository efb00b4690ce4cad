#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/rules/draft.h"
#include "penstock/rules/findings.h"
#include "penstock/rules/rule.h"

namespace penstock::rules {

// What `store` may say, and what it says for the whole file.
struct StoreNames {
  const std::optional<std::vector<std::string>>& known;  // nothing: any
  std::string of_file;
};

// Errors: a name that is not known.
[[nodiscard]] bool check_store_name(const Stated<std::string>& name, const StoreNames& stores, Findings& findings);

// The limit that a `rate_limit` describes; nullopt if something is wrong with it, which is then among the findings.
// Requires: not `unlimited`.
[[nodiscard]] std::optional<RuleLimit> make_limit(const LimitDraft& draft, const StoreNames& stores,
                                                  Findings& findings);

// The limits of a `rate_limits`, ranked. Those that are wrong are left out.
[[nodiscard]] std::vector<RuleLimit> make_limits(std::span<const LimitDraft> drafts, const StoreNames& stores,
                                                 Findings& findings);

// What `unlimited: true` forbids.
void check_unlimited(const LimitDraft& draft, Findings& findings);

}  // namespace penstock::rules
