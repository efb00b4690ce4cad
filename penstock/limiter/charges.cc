#include "penstock/limiter/charges.h"

#include <algorithm>

#include <fmt/format.h>

#include "penstock/base/check.h"

namespace penstock::limiter {
namespace {

using store::GroupMode;

bool counts_refused(const rules::RuleLimit& limit) { return limit.limit.counts_refused(); }

// The limits of a list pass together or not at all. Those that count refused cost count what they refuse themselves.
GroupMode mode_of(std::span<const rules::RuleLimit> limits) {
  if (limits.size() == 1) return GroupMode::each;
  return std::ranges::any_of(limits, counts_refused) ? GroupMode::spare_others : GroupMode::all_or_nothing;
}

bool may_spare_others(std::span<const rules::RuleLimit> limits) {
  return limits.size() == 1 && limits.front().is_original();
}

bool may_be_all_or_nothing(const Plan& plan, std::span<const rules::RuleLimit> limits) {
  const bool quota = !plan.is_override() && plan.match.rule->quota_mode;
  return !quota && std::ranges::none_of(limits, counts_refused);
}

}  // namespace

void Charges::begin(std::size_t most_charges) {
  groups_.clear();
  charges_.clear();
  names_.clear();
  names_.reserve(most_charges);
}

Charges::Joint Charges::join(const rules::RuleSet& rules, const Check& check, std::span<Plan> plans,
                             std::span<const rules::RuleLimit> overrides) const {
  Joint joint;
  if (spare_others_) joint.mode = GroupMode::refused_alone;
  const rules::RuleSet::Domain* const domain = all_may_refuse_ ? rules.domain(check.domain) : nullptr;
  const bool all_or_nothing = domain != nullptr && rules.is_all_or_nothing(*domain);
  if (all_or_nothing) joint.mode = GroupMode::all_or_nothing;
  if (joint.mode == GroupMode::each) return joint;
  for (Plan& plan : plans) {
    const std::span<const rules::RuleLimit> limits = plan.limits(overrides);
    if (limits.empty() || plan.negative) continue;
    plan.joined = all_or_nothing ? may_be_all_or_nothing(plan, limits) : may_spare_others(limits);
    if (!plan.joined) continue;
    ++joint.members;
    joint.charges += limits.size();
  }
  return joint;
}

std::expected<void, Error> Charges::add(const Ruling& ruling, const Check& check, std::span<Plan> plans,
                                        std::span<const rules::RuleLimit> overrides, std::uint64_t request) {
  const Joint joint = join(*ruling.rules, check, plans, overrides);
  if (joint.mode == GroupMode::all_or_nothing && joint.charges > store::Group::kMaxCharges) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{} limits apply to this request, and its domain says all_or_nothing; accepted are up to {}",
                    joint.charges, store::Group::kMaxCharges));
  }
  first_ = charges_.size();
  const bool alone = joint.members < 2;
  for (std::size_t d = 0; d < plans.size(); ++d) {
    Plan& plan = plans[d];
    const std::span<const rules::RuleLimit> limits = plan.limits(overrides);
    if (limits.empty() || (plan.joined && !alone)) continue;
    open_group(check, mode_of(limits), plan.negative ? algorithm::Verb::refund : algorithm::Verb::decide, request);
    add_charges(ruling, check, d, plan, limits, false);
  }
  if (alone) return {};
  for (std::size_t d = 0, in_group = 0; d < plans.size(); ++d) {
    if (!plans[d].joined) continue;
    if (in_group % store::Group::kMaxCharges == 0) open_group(check, joint.mode, algorithm::Verb::decide, request);
    const std::span<const rules::RuleLimit> limits = plans[d].limits(overrides);
    const bool shadow = !plans[d].is_override() && plans[d].match.rule->shadow_mode;
    add_charges(ruling, check, d, plans[d], limits, shadow && joint.mode == GroupMode::all_or_nothing);
    in_group += limits.size();
  }
  return {};
}

void Charges::open_group(const Check& check, GroupMode mode, algorithm::Verb verb, std::uint64_t request) {
  groups_.push_back(
      {.charge_count = 0,
       .verb = verb,
       .mode = mode,
       .deadline = check.deadline,
       .ticket = {.request = request, .first_decision = static_cast<std::uint32_t>(charges_.size() - first_)}});
}

std::uint8_t Ruling::store_of(std::string_view domain, const Plan& plan, const rules::RuleLimit& limit,
                              std::size_t index) const {
  if (placements->all_on_node()) return 0;
  if (!plan.is_override()) return placements->of(*plan.match.rule, index).store;
  const rules::RuleSet::Domain* const known = rules->domain(domain);
  return placements->store_of(known == nullptr ? std::string_view{} : rules->store_of(*known), limit);
}

void Charges::add_charges(const Ruling& ruling, const Check& check, std::size_t descriptor, Plan& plan,
                          std::span<const rules::RuleLimit> limits, bool observer) {
  plan.first_decision = static_cast<std::uint32_t>(charges_.size() - first_);
  groups_.back().charge_count += static_cast<std::uint32_t>(limits.size());
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const rules::RuleLimit& limit = limits[i];
    PENSTOCK_DCHECK(names_.size() < names_.capacity());
    const Names& names = names_.emplace_back(*ruling.rules, check.domain, check.descriptors[descriptor].entries, limit,
                                             plan.is_override());
    charges_.push_back({.counter = rules::counter_of(plan.match.counter, limit),
                        .limit = &limit.limit,
                        .cost = plan.hits,
                        .names = &names,
                        .store = ruling.store_of(check.domain, plan, limit, i),
                        .observer = observer,
                        .accepts_wait = check.accepts_wait});
  }
}

}  // namespace penstock::limiter
