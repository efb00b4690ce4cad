#include "penstock/limiter/placement.h"

#include <algorithm>

namespace penstock::limiter {
namespace {

std::uint32_t part_of(std::uint32_t amount, std::uint32_t fleet_size) {
  return amount == 0 ? 0 : std::max(1U, amount / fleet_size);
}

}  // namespace

algorithm::Limit share_of(const rules::RuleLimit& limit, std::uint32_t fleet_size) {
  const algorithm::Limit& whole = limit.limit;
  if (fleet_size <= 1) return whole;
  algorithm::LimitOptions options = {.algorithm = whole.algorithm(),
                                     .amount = part_of(whole.amount(), fleet_size),
                                     .window_seconds = whole.window_seconds(),
                                     .burst = part_of(limit.burst, fleet_size),
                                     .count_refused = whole.counts_refused(),
                                     .spread_windows = whole.spreads_windows(),
                                     .max_wait = whole.max_wait()};
  if (limit.peak) {
    options.peak = {.amount = part_of(limit.peak->requests_per_unit, fleet_size),
                    .window_seconds = limit.peak->unit_multiplier * rules::seconds_of(limit.peak->unit),
                    .burst = part_of(limit.peak->burst, fleet_size)};
  }
  return algorithm::Limit::create(options).value_or(whole);
}

Placements::Placements(const rules::RuleSet& rules, const PlacementOptions& options) : options_{options} {
  const StoreNumbers& stores = options.stores;
  all_on_node_ = stores.common == 0 && stores.per_second == 0 && stores.named.empty();
  first_.resize(rules.rules().size());
  for (const std::unique_ptr<const rules::Rule>& rule : rules.rules()) {
    first_[rule->index] = all_.size();
    for (const rules::RuleLimit& limit : rule->limits) {
      all_.push_back({.store = store_of(limit.store, limit),
                      .on_failure = limit.on_store_failure.value_or(options.on_store_failure),
                      .share = share_of(limit, options.fleet_size)});
    }
  }
}

std::uint8_t Placements::store_of(std::string_view name, const rules::RuleLimit& limit) const {
  if (limit.tier == rules::Tier::local) return 0;
  if (!name.empty()) {
    for (const auto& [known, number] : options_.stores.named) {
      if (known == name) return number;
    }
  }
  return limit.unit == rules::Unit::second ? options_.stores.per_second : options_.stores.common;
}

}  // namespace penstock::limiter
