#pragma once

#include "penstock/base/error.h"
#include "penstock/rules/rule_set.h"
#include "penstock/server/server.h"

namespace penstock::server {

// Connects to each shared store once, before anything is served. A store that is not there within kProbeSeconds is a
// warning: it is looked for while its limits answer as `on_store_failure` says. Errors: failed_precondition where a
// store does not let us run scripts that limits of the rules need; the message names the permission and a rule. Returns
// whether all stores were there.
inline constexpr int kProbeSeconds = 2;
[[nodiscard]] Result<bool> probe_stores(const ServerSettings& settings, const rules::RuleSet& rules);

}  // namespace penstock::server
