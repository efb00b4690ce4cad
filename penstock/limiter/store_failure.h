#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/algorithm/decision.h"
#include "penstock/base/instant.h"
#include "penstock/limiter/charges.h"
#include "penstock/limiter/plan.h"
#include "penstock/limiter/statistics.h"
#include "penstock/rules/rule_set.h"
#include "penstock/store/store.h"

namespace penstock::limiter {

// Puts what the limits' rules say in the place of decisions that a store did not make (rules::OnStoreFailure), and
// counts each by cause and policy. `error` stays unanswered; what could not be given back is left as it is, and passes
// unless the policy is `error`. A decision that was put in place keeps its cause.
//
// Bound of `local`: while the store is away each node admits its share beside what the store had counted, so over a
// failure and the recovery from it at most one limit more passes in a window, or one burst more of a bucket.
//
// Threading: Loop-owned. Ownership: borrows the store, which answers charges of store 0 in place.
class StoreFailures final : private store::LateDecisions {
 public:
  StoreFailures(store::Store& store, const PlacementOptions& options, DegradedCounters& counters)
      : store_{store}, options_{options}, counters_{counters} {}

  // `decisions` are those of one check.
  void resolve(const Ruling& ruling, std::span<const Plan> plans, std::span<const rules::RuleLimit> overrides,
               std::span<algorithm::Decision> decisions, Instant now);

  // What was answered in place of the store; nothing: it decided, or nobody did.
  [[nodiscard]] std::optional<rules::OnStoreFailure> policy_of(const Ruling& ruling, const Plan& plan,
                                                               std::size_t limit,
                                                               const algorithm::Decision& decision) const;

 private:
  [[nodiscard]] algorithm::Decision put_in_place(const Plan& plan, const rules::RuleLimit& limit,
                                                 const Placement& placement, Instant now);
  [[nodiscard]] Placement placement_of(const Ruling& ruling, const Plan& plan, const rules::RuleLimit& limit,
                                       std::size_t index) const;
  void on_decided(const store::Ticket&, std::span<const algorithm::Decision>) override {}

  store::Store& store_;
  PlacementOptions options_;
  DegradedCounters& counters_;
};

}  // namespace penstock::limiter
