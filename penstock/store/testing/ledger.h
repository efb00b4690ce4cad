#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/store/store.h"

namespace penstock::store::testing {

// The keyed hash of a counter with a name of the test's choice.
[[nodiscard]] Hash128 counter_named(std::string_view name);

// A group with its charges, which outlives the call that submits it.
struct GroupOf {
  GroupMode mode = GroupMode::each;
  std::vector<Charge> charges;
  algorithm::Verb verb = algorithm::Verb::decide;
};

// Builds batches, hands them to a store, and collects the decisions, early and late ones alike.
// Threading: Value. Ownership: borrows the store.
class Ledger final : public LateDecisions {
 public:
  explicit Ledger(Store& store) : store_{store} {}

  // Submits the groups as one batch and returns its number. `decisions` of it may be pending until the store answers.
  std::size_t submit(std::span<const GroupOf> groups, Instant now);

  // All decisions of a batch, group by group.
  [[nodiscard]] std::span<const algorithm::Decision> decisions(std::size_t batch) const { return batches_[batch]; }

  // How often groups were answered late, and how often wrongly: an unknown ticket, a wrong number of decisions, or a
  // group that was not pending (answered twice).
  [[nodiscard]] std::uint64_t late_answers() const noexcept { return late_answers_; }
  [[nodiscard]] std::uint64_t wrong_answers() const noexcept { return wrong_answers_; }
  [[nodiscard]] std::uint64_t pending() const;

  void on_decided(const Ticket& ticket, std::span<const algorithm::Decision> decisions) override;

 private:
  Store& store_;
  std::vector<std::vector<algorithm::Decision>> batches_;
  std::uint64_t late_answers_ = 0;
  std::uint64_t wrong_answers_ = 0;
};

// A decision in words, for messages of tests.
[[nodiscard]] std::string describe(const algorithm::Decision& decision);

}  // namespace penstock::store::testing
