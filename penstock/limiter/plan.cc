#include "penstock/limiter/plan.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace penstock::limiter {
namespace {

constexpr std::int32_t kLeastUnit = static_cast<std::int32_t>(rules::Unit::second);
constexpr std::int32_t kGreatestUnit = static_cast<std::int32_t>(rules::Unit::week);

Error unknown_unit(std::size_t descriptor, std::int32_t unit) {
  return {.code = ErrorCode::invalid_argument,
          .message = fmt::format("descriptor {}: limit has the unknown unit {}; accepted are SECOND (1), MINUTE (2), "
                                 "HOUR (3), DAY (4), MONTH (5), YEAR (6) and WEEK (7)",
                                 descriptor, unit),
          .place = std::nullopt};
}

rules::RuleLimit limit_of(const Override& wanted) {
  const auto unit = static_cast<rules::Unit>(wanted.unit);
  return {.limit = algorithm::Limit::original_window(wanted.requests_per_unit, rules::seconds_of(unit)),
          .unit = unit,
          .requests_per_unit = wanted.requests_per_unit};
}

// Names are collected over the whole check, so a limit that is replaced itself still replaces; an unlimited rule is
// never dropped. A check may name one rule ten thousand times, so each rule's names are taken once where it stands in
// a row, and looked up in a sorted list.
void mark_replaced(std::span<Plan> plans, std::vector<std::string_view>& names) {
  names.clear();
  const rules::Rule* last = nullptr;
  for (const Plan& plan : plans) {
    const rules::Rule* rule = plan.match.rule;
    if (rule == nullptr || rule == last) continue;
    last = rule;
    names.insert(names.end(), rule->replaces.begin(), rule->replaces.end());
  }
  if (names.empty()) return;
  std::ranges::sort(names);
  for (Plan& plan : plans) {
    const rules::Rule* rule = plan.match.rule;
    if (rule == nullptr || rule->name.empty() || rule->unlimited) continue;
    plan.replaced = std::ranges::binary_search(names, std::string_view{rule->name});
  }
}

}  // namespace

std::expected<void, Error> plan_check(const rules::RuleSet& rules, const Check& check, HashKey key, Plans& plans,
                                      bool& domain_known) {
  if (check.domain.empty()) return fail(ErrorCode::unknown, "rate limit domain must not be empty");
  if (check.descriptors.empty()) return fail(ErrorCode::unknown, "rate limit descriptor list must not be empty");

  const rules::RuleSet::Domain* domain = rules.domain(check.domain);
  domain_known = domain != nullptr;
  const std::size_t first_plan = plans.descriptors.size();
  const std::size_t first_override = plans.overrides.size();
  const std::uint64_t default_hits = std::max<std::uint32_t>(1, check.hits_addend);
  for (const Descriptor& descriptor : check.descriptors) {
    Plan& plan = plans.descriptors.emplace_back();
    plan.hits = descriptor.hits.value_or(default_hits);
    plan.negative = descriptor.negative_hits;
    if (domain == nullptr) continue;
    if (!descriptor.limit) {
      plan.match = rules.match(*domain, descriptor.entries, key);
      continue;
    }
    const std::int32_t unit = descriptor.limit->unit;
    if (unit < kLeastUnit || unit > kGreatestUnit) {
      const std::size_t index = plans.descriptors.size() - first_plan - 1;
      plans.descriptors.resize(first_plan);
      plans.overrides.resize(first_override, limit_of({.requests_per_unit = 0, .unit = kLeastUnit}));
      return std::unexpected{unknown_unit(index, unit)};
    }
    plan.match.counter = rules.identify(check.domain, descriptor.entries, key);
    plan.override_index = static_cast<std::uint32_t>(plans.overrides.size());
    plans.overrides.push_back(limit_of(*descriptor.limit));
  }
  mark_replaced(std::span{plans.descriptors}.subspan(first_plan), plans.replaced_names);
  return {};
}

std::expected<void, Error> require_no_refund(const Check& check) {
  const auto refund = std::ranges::find_if(check.descriptors, &Descriptor::negative_hits);
  if (refund == check.descriptors.end()) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("descriptor {}: is_negative_hits is true, and this service does not take hits back "
                          "(--allow-negative-hits false)",
                          refund - check.descriptors.begin()));
}

}  // namespace penstock::limiter
