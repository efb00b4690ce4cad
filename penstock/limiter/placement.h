#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/algorithm/limit.h"
#include "penstock/rules/rule_set.h"

namespace penstock::limiter {

// Which stores there are, by the numbers of Charge::store. All 0: this node keeps everything.
struct StoreNumbers {
  std::uint8_t common = 0;
  std::uint8_t per_second = 0;  // of limits per second; the same as `common` where there is none of their own
  std::vector<std::pair<std::string, std::uint8_t>> named;
};

struct PlacementOptions {
  StoreNumbers stores;
  rules::OnStoreFailure on_store_failure = rules::OnStoreFailure::error;  // of limits that say nothing
  std::uint32_t fleet_size = 1;  // nodes, each of which counts its share where a store fails; at least 1
};

// Where the counter of a limit is, and what happens when it cannot be reached.
struct Placement {
  std::uint8_t store = 0;
  rules::OnStoreFailure on_failure = rules::OnStoreFailure::error;
  algorithm::Limit share;  // this node's, for OnStoreFailure::local
};

// A node's part of a limit: amount, burst and peak divided by the nodes and rounded down, but at least 1. So all nodes
// together admit no more than the limit, or than one each where it is less than the nodes.
[[nodiscard]] algorithm::Limit share_of(const rules::RuleLimit& limit, std::uint32_t fleet_size);

// The placements of all limits of a rule set. A store that is not known is the common one: loading refuses its name
// (rules::LoadOptions::stores). Threading: Immutable. Ownership: refers to no rule.
class Placements {
 public:
  Placements(const rules::RuleSet& rules, const PlacementOptions& options);

  [[nodiscard]] const Placement& of(const rules::Rule& rule, std::size_t limit) const noexcept {
    return all_[first_[rule.index] + limit];
  }
  // Of a limit for which a store of this name (or none) is asked.
  [[nodiscard]] std::uint8_t store_of(std::string_view name, const rules::RuleLimit& limit) const;
  // Whether there is no store but this node's table.
  [[nodiscard]] bool all_on_node() const noexcept { return all_on_node_; }

 private:
  PlacementOptions options_;
  bool all_on_node_ = true;
  std::vector<Placement> all_;
  std::vector<std::size_t> first_;  // by Rule::index
};

}  // namespace penstock::limiter
