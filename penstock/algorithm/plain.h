#pragma once

#include "penstock/algorithm/fixed_window.h"
#include "penstock/algorithm/gcra.h"

namespace penstock::algorithm {

// `apply` for plain limits, in a form that compiles into its caller: then a decision and a state never take the way
// through memory. Requires: limit.is_plain().
[[nodiscard]] inline Step apply_plain(const Limit& limit, State state, const Ask& ask) noexcept {
  if (limit.algorithm() == Algorithm::fixed_window) return fixed_window::apply(limit, state, ask);
  return gcra::apply_one_rate(limit, state, ask);
}

}  // namespace penstock::algorithm
