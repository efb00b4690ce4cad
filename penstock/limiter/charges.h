#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/limiter/check.h"
#include "penstock/limiter/limiter.h"
#include "penstock/limiter/placement.h"
#include "penstock/limiter/plan.h"
#include "penstock/rules/rule_set.h"
#include "penstock/store/store.h"

namespace penstock::limiter {

// The names of one charge's counter, should its store ask for them.
class Names final : public store::CounterNames {
 public:
  Names(const rules::RuleSet& rules, std::string_view domain, std::span<const rules::Entry> entries,
        const rules::RuleLimit& limit, bool is_override)
      : rules_{&rules}, domain_{domain}, entries_{entries}, limit_{&limit}, is_override_{is_override} {}

  [[nodiscard]] std::array<std::uint8_t, 16> shared_identity() const override {
    return rules_->shared_identity(domain_, entries_, *limit_, is_override_);
  }
  [[nodiscard]] std::uint64_t shared_family() const override {
    return rules_->shared_family(domain_, entries_, is_override_);
  }
  [[nodiscard]] bool append_original_key(Instant now, std::string& out) const override {
    return rules_->append_original_key(domain_, entries_, *limit_, is_override_, now, out);
  }

 private:
  const rules::RuleSet* rules_;
  std::string_view domain_;
  std::span<const rules::Entry> entries_;
  const rules::RuleLimit* limit_;
  bool is_override_;
};

// Rules, and where their limits are kept.
struct Ruling {
  std::shared_ptr<const rules::RuleSet> rules;
  std::shared_ptr<const Placements> placements;

  // Which store keeps limit number `index` of those that a plan charges.
  [[nodiscard]] std::uint8_t store_of(std::string_view domain, const Plan& plan, const rules::RuleLimit& limit,
                                      std::size_t index) const;
};

// Turns the plans of a batch's checks into charges and groups. A rule's limits are one group: a list passes whole or
// not at all, or, where limits in it count what they refuse, those alone are charged. Two settings join descriptors of
// one check into one group:
//   - LimiterOptions::spare_others: those with one limit of envoyproxy/ratelimit, overrides included; more than
//     store::Group::kMaxCharges of them make several groups
//   - `all_or_nothing` of the domain: those whose limits do not count refused hits. Shadow rules are charged if the
//     group passes and never veto; rules of quota mode, which refuse nothing by themselves, stay apart, and so does
//     everything where shadow or quota mode holds for all rules
// Refunds are each on their own.
//
// Threading: Loop-owned. Cost: no allocation after warm-up.
class Charges {
 public:
  explicit Charges(const LimiterOptions& options)
      : spare_others_{options.spare_others}, all_may_refuse_{!options.shadow_mode && !options.quota_mode} {}

  // Begins a batch with so many charges at most. Requires: everything that was added is no longer in use.
  void begin(std::size_t most_charges);

  // Sets `first_decision` of each plan: an index into the check's decisions. Errors, with nothing added:
  // invalid_argument where more limits than a group holds would have to pass together.
  [[nodiscard]] std::expected<void, Error> add(const Ruling& ruling, const Check& check, std::span<Plan> plans,
                                               std::span<const rules::RuleLimit> overrides, std::uint64_t request);

  [[nodiscard]] std::span<const store::Group> groups() const noexcept { return groups_; }
  [[nodiscard]] std::span<const store::Charge> charges() const noexcept { return charges_; }

 private:
  struct Joint {
    store::GroupMode mode = store::GroupMode::each;
    std::size_t members = 0;  // plans
    std::size_t charges = 0;
  };

  [[nodiscard]] Joint join(const rules::RuleSet& rules, const Check& check, std::span<Plan> plans,
                           std::span<const rules::RuleLimit> overrides) const;
  void open_group(const Check& check, store::GroupMode mode, algorithm::Verb verb, std::uint64_t request);
  void add_charges(const Ruling& ruling, const Check& check, std::size_t descriptor, Plan& plan,
                   std::span<const rules::RuleLimit> limits, bool observer);

  bool spare_others_;
  bool all_may_refuse_;
  std::size_t first_ = 0;  // of the check at hand
  std::vector<store::Group> groups_;
  std::vector<store::Charge> charges_;
  std::vector<Names> names_;
};

}  // namespace penstock::limiter
