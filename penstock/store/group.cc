#include "penstock/store/group.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "penstock/base/check.h"

namespace penstock::store {
namespace {

using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;

// One group on its way to a decision.
class Evaluation {
 public:
  Evaluation(const Group& group, std::span<const Charge> charges, GroupSheet& sheet, std::span<Decision> decisions,
             Instant now, ReadTally& tally) noexcept
      : group_{group}, charges_{charges}, sheet_{sheet}, decisions_{decisions}, now_{now}, tally_{tally} {}

  void run() noexcept {
    start_over();
    if (group_.mode == GroupMode::refused_alone) {
      charge_refused_alone();
      return;
    }
    if (charge_members()) {
      charge_observers();
      return;
    }
    start_over();
    for (std::size_t i = 0; i < charges_.size(); ++i) report_refused(i);
  }

 private:
  GroupSheet::Line& line(std::size_t charge) noexcept { return sheet_.line[sheet_.line_of[charge]]; }
  Record& record(std::size_t charge) noexcept { return line(charge).record; }

  void start_over() noexcept {
    for (GroupSheet::Line& line : sheet_.lines()) line.record = line.before;
  }

  // Whether a refusal may still be counted: never where nothing is charged unless all are.
  bool counts_refused(std::size_t i) const noexcept {
    return group_.mode == GroupMode::spare_others && charges_[i].limit->counts_refused();
  }

  void apply_to(std::size_t i, Verb verb) noexcept {
    GroupSheet::Line& counter = line(i);
    decisions_[i] = apply_charge(counter.record, charges_[i], verb, now_, tally_, counter.places);
  }

  // Charges everything that may veto; false if any was refused.
  bool charge_members() noexcept {
    bool passes = true;
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      sheet_.refused[i] = false;
      if (charges_[i].observer) continue;
      const Record unchanged = record(i);
      apply_to(i, Verb::decide);
      sheet_.refused[i] = decisions_[i].refused();
      if (!sheet_.refused[i]) continue;
      passes = false;
      if (!counts_refused(i)) record(i) = unchanged;
    }
    return passes;
  }

  void charge_refused_alone() noexcept {
    bool any_refused = false;
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      sheet_.refused[i] = !charges_[i].observer && look(i, charges_[i], line(i).before).refused();
      any_refused |= sheet_.refused[i];
    }
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      apply_to(i, any_refused && !sheet_.refused[i] ? Verb::look : Verb::decide);
    }
  }

  void charge_observers() noexcept {
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      if (charges_[i].observer) apply_to(i, Verb::decide);
    }
  }

  void report_refused(std::size_t i) noexcept {
    const Decision tentative = decisions_[i];
    if (sheet_.refused[i] && counts_refused(i)) {
      count_refused(i);
    } else {
      apply_to(i, Verb::look);
    }
    if (sheet_.refused[i] && !decisions_[i].refused()) explain_by_earlier(i, tentative);
  }

  // The cost counts also where it would fit alone, now that the earlier charges on its counter are not made.
  void count_refused(std::size_t i) noexcept {
    const bool refused = look(i, charges_[i], record(i)).refused();
    apply_to(i, refused ? Verb::decide : Verb::debit);
  }

  // What `charge` would get on the counter of charge `i`.
  Decision look(std::size_t i, const Charge& charge, Record copy) noexcept {
    return apply_charge(copy, charge, Verb::look, now_, tally_, line(i).places);
  }

  // The refusal of a charge that alone would pass: what it and the earlier ones on its counter would get together.
  void explain_by_earlier(std::size_t i, const Decision& tentative) noexcept {
    Charge together = charges_[i];
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (charges_[earlier].observer || sheet_.line_of[earlier] != sheet_.line_of[i]) continue;
      if (sheet_.refused[earlier] && !counts_refused(earlier)) continue;
      const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - together.cost;
      together.cost += std::min(charges_[earlier].cost, room);
    }
    const Decision joint = look(i, together, line(i).before);
    const Decision& reason = joint.refused() ? joint : tentative;
    decisions_[i].outcome = reason.outcome;
    decisions_[i].retry_after = reason.retry_after;
  }

  const Group& group_;
  const std::span<const Charge> charges_;
  GroupSheet& sheet_;
  const std::span<Decision> decisions_;
  const Instant now_;
  ReadTally& tally_;
};

}  // namespace

void GroupSheet::list_counters(std::span<const Charge> charges) noexcept {
  PENSTOCK_CHECK(charges.size() <= Group::kMaxCharges);
  count = 0;
  for (std::size_t i = 0; i < charges.size(); ++i) {
    std::uint32_t at = 0;
    while (at < count && line[at].counter != charges[i].counter) ++at;
    if (at == count) line[count++].counter = charges[i].counter;
    line_of[i] = static_cast<std::uint8_t>(at);
  }
}

bool decided_singly(const Group& group, std::span<const Charge> charges) noexcept {
  if (group.mode == GroupMode::each || group.verb != Verb::decide) return true;
  if (charges.size() != 1) return false;
  return group.mode == GroupMode::spare_others || group.mode == GroupMode::refused_alone || charges[0].observer ||
         !charges[0].limit->counts_refused();
}

void decide_group(const Group& group, std::span<const Charge> charges, GroupSheet& sheet,
                  std::span<algorithm::Decision> decisions, Instant now, ReadTally& tally) noexcept {
  Evaluation{group, charges, sheet, decisions, now, tally}.run();
}

}  // namespace penstock::store
