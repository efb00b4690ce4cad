#include "penstock/limiter/store_failure.h"

namespace penstock::limiter {

using algorithm::Cause;
using algorithm::Decision;
using algorithm::Outcome;
using rules::OnStoreFailure;

void StoreFailures::resolve(const Ruling& ruling, std::span<const Plan> plans,
                            std::span<const rules::RuleLimit> overrides, std::span<Decision> decisions, Instant now) {
  for (const Plan& plan : plans) {
    const std::span<const rules::RuleLimit> limits = plan.limits(overrides);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      Decision& decision = decisions[plan.first_decision + i];
      if (decision.outcome != Outcome::unanswered) continue;
      const Placement placement = placement_of(ruling, plan, limits[i], i);
      const Cause cause = decision.cause;
      counters_.decisions[static_cast<std::size_t>(cause)][static_cast<std::size_t>(placement.on_failure)].add();
      decision = put_in_place(plan, limits[i], placement, now);
      decision.cause = cause;
    }
  }
}

Placement StoreFailures::placement_of(const Ruling& ruling, const Plan& plan, const rules::RuleLimit& limit,
                                      std::size_t index) const {
  if (!plan.is_override()) return ruling.placements->of(*plan.match.rule, index);
  return {.on_failure = options_.on_store_failure, .share = share_of(limit, options_.fleet_size)};
}

Decision StoreFailures::put_in_place(const Plan& plan, const rules::RuleLimit& limit, const Placement& placement,
                                     Instant now) {
  if (placement.on_failure == OnStoreFailure::error) return {.outcome = Outcome::unanswered};
  if (plan.negative || placement.on_failure == OnStoreFailure::allow) return {};
  if (placement.on_failure == OnStoreFailure::deny) return {.outcome = Outcome::denied};
  const store::Charge charge = {
      .counter = rules::counter_of(plan.match.counter, limit), .limit = &placement.share, .cost = plan.hits};
  const store::Group group = {.charge_count = 1, .ticket = {}};
  Decision decision;
  store_.submit({.groups = {&group, 1}, .charges = {&charge, 1}, .decisions = {&decision, 1}}, now, *this);
  return decision;
}

std::optional<OnStoreFailure> StoreFailures::policy_of(const Ruling& ruling, const Plan& plan, std::size_t limit,
                                                       const Decision& decision) const {
  if (decision.cause == Cause::none || decision.outcome == Outcome::unanswered) return std::nullopt;
  return plan.is_override() ? options_.on_store_failure : ruling.placements->of(*plan.match.rule, limit).on_failure;
}

}  // namespace penstock::limiter
