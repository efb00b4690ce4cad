#include "penstock/store/testing/faulty_store.h"

#include <algorithm>
#include <utility>

#include "penstock/base/check.h"

namespace penstock::store::testing {
namespace {

using algorithm::Cause;
using algorithm::Decision;
using algorithm::Outcome;

Decision unanswered(Cause cause) {
  Decision decision;
  decision.outcome = Outcome::unanswered;
  decision.cause = cause;
  return decision;
}

Decision pending() {
  Decision decision;
  decision.outcome = Outcome::pending;
  return decision;
}

}  // namespace

FaultyStore::FaultyStore(Store& behind, std::vector<Fault> script, Fault rest)
    : behind_{behind}, script_{std::move(script)}, rest_{rest} {}

FaultyStore::FaultyStore(Store& behind, std::uint64_t seed)
    : behind_{behind}, rest_{Fault::none}, random_{seed}, seeded_{true} {}

void FaultyStore::submit(const Batch& batch, Instant now, LateDecisions& late) {
  std::size_t next = 0;
  for (const Group& group : batch.groups) {
    submit_group({.groups = {&group, 1},
                  .charges = batch.charges.subspan(next, group.charge_count),
                  .decisions = batch.decisions.subspan(next, group.charge_count)},
                 now, late);
    next += group.charge_count;
  }
}

Fault FaultyStore::next_fault() {
  if (seeded_) return static_cast<Fault>(random_.below(4));
  return groups_seen_ < script_.size() ? script_[groups_seen_++] : rest_;
}

void FaultyStore::submit_group(const Batch& one, Instant now, LateDecisions& late) {
  const Fault fault = next_fault();
  if (fault == Fault::refuse) {
    std::ranges::fill(one.decisions, unanswered(cause_));
    return;
  }
  const bool answers_late = fault == Fault::delay || fault == Fault::lose;
  if (answers_late && delayed_.size() >= kMaxDelayed) {
    std::ranges::fill(one.decisions, unanswered(Cause::overloaded));
    return;
  }
  behind_.submit(one, now, late);
  const bool in_place = std::ranges::none_of(
      one.decisions, [](const Decision& decision) { return decision.outcome == Outcome::pending; });
  PENSTOCK_CHECK(in_place);
  if (!answers_late) return;
  std::vector<Decision> decisions{one.decisions.begin(), one.decisions.end()};
  if (fault == Fault::lose) std::ranges::fill(decisions, unanswered(cause_));
  delayed_.push_back({.ticket = one.groups[0].ticket, .late = &late, .decisions = std::move(decisions)});
  std::ranges::fill(one.decisions, pending());
}

void FaultyStore::answer(std::size_t index) {
  PENSTOCK_CHECK(index < delayed_.size());
  const auto place = delayed_.begin() + static_cast<std::ptrdiff_t>(index);
  const Delayed group = std::move(*place);
  delayed_.erase(place);
  group.late->on_decided(group.ticket, group.decisions);
}

// Only those that wait now: answers may lead to further groups.
void FaultyStore::answer_all() {
  for (std::size_t left = delayed_.size(); left > 0; --left) answer(0);
}

}  // namespace penstock::store::testing
