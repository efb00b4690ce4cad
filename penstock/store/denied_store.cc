#include "penstock/store/denied_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "penstock/store/group.h"

namespace penstock::store {

using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;

namespace {

// A window that counts what it refuses and whose end follows from the clock.
bool is_original_window(const algorithm::Limit& limit) {
  return limit.algorithm() == algorithm::Algorithm::fixed_window && limit.counts_refused() && !limit.spreads_windows();
}

std::int64_t window_of(const algorithm::Limit& limit, Instant now) {
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  return seconds / limit.window_seconds();
}

Instant end_of_window(const algorithm::Limit& limit, Instant now) {
  return instant_from_unix_seconds((window_of(limit, now) + 1) * limit.window_seconds());
}

}  // namespace

// A charge whose refusal would be kept.
struct DeniedStore::Watched {
  std::uint32_t charge = 0;
  Hash128 counter;
  std::uint64_t limit = 0;
  std::uint64_t cost = 0;
  DeniedTable::Reading reading;
  std::optional<Instant> window_end;
};

// A group that was passed on.
struct DeniedStore::Passed {
  Ticket ticket;
  LateDecisions* late = nullptr;
  Instant asked;
  std::vector<Watched> watched;
  std::vector<Decision> decisions;    // of all charges: what the cache knew, then what was answered
  std::vector<std::uint32_t> places;  // of those that were asked for
};

DeniedStore::DeniedStore(Store& behind, std::shared_ptr<DeniedTable> table, const DeniedOptions& options)
    : behind_{behind}, table_{std::move(table)}, options_{options} {}

DeniedStore::~DeniedStore() = default;

bool DeniedStore::may_keep(const Group& group, const Charge& charge) const noexcept {
  if (group.verb != Verb::decide && group.verb != Verb::look) return false;
  if (is_original_window(*charge.limit)) return options_.original_windows && group.mode != GroupMode::spare_others;
  if (charge.limit->counts_refused() || options_.longest <= Nanoseconds{0}) return false;
  return group.mode == GroupMode::each || (group.mode == GroupMode::all_or_nothing && !charge.observer);
}

std::uint64_t DeniedStore::check_of(const Charge& charge) const noexcept {
  return limit_check(*charge.limit, is_original_window(*charge.limit) ? window_of(*charge.limit, now_) : 0);
}

void DeniedStore::submit(const Batch& batch, Instant now, LateDecisions& late) {
  now_ = now;
  groups_.clear();
  charges_.clear();
  home_.clear();
  numbers_.clear();
  std::size_t next = 0;
  for (const Group& group : batch.groups) {
    const auto charges = batch.charges.subspan(next, group.charge_count);
    if (group.verb == Verb::refund) {
      for (const Charge& charge : charges) table_->clear(charge.counter);
    }
    const auto decisions = batch.decisions.subspan(next, group.charge_count);
    std::ranges::fill(decisions, Decision{});
    if (!answer(group, charges, decisions)) pass_on(group, charges, decisions, next, late);
    next += group.charge_count;
  }
  if (groups_.empty()) return;
  decisions_.assign(charges_.size(), {});
  behind_.submit({.groups = groups_, .charges = charges_, .decisions = decisions_}, now, *this);
  std::size_t at = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto decisions = std::span<const Decision>{decisions_}.subspan(at, groups_[i].charge_count);
    at += groups_[i].charge_count;
    Passed& passed = passed_[numbers_[i]];
    const auto into = batch.decisions.subspan(home_[i], passed.decisions.size());
    if (decisions.front().outcome == Outcome::pending) {
      std::ranges::fill(into, Decision{.outcome = Outcome::pending});
      continue;
    }
    std::ranges::copy(complete(passed, decisions), into.begin());
    free_.push_back(numbers_[i]);
  }
}

// What the cache says of the charge; false: nothing.
bool DeniedStore::find(const Group& group, const Charge& charge, Decision& decision) {
  if (!may_keep(group, charge)) return false;
  const bool original = is_original_window(*charge.limit);
  const std::uint64_t cost = original ? 0 : std::max<std::uint64_t>(charge.cost, 1);
  const std::optional<Denial> denial = table_->find(charge.counter, check_of(charge), cost, now_);
  if (!denial) return false;
  decision = {.outcome = Outcome::denied, .cached = true, .remaining = denial->remaining};
  decision.retry_after = denial->until - now_;
  decision.reset_after = std::max(denial->fresh_at - now_, Nanoseconds{0});
  decision.count_before = original ? charge.limit->amount() : 0;
  hits_.add();
  return true;
}

// Whether the cache refuses the group. One charge decides for all, but where each stands alone; of a group of mode
// refused_alone those that are refused are known, and the others are still to be looked at.
bool DeniedStore::answer(const Group& group, std::span<const Charge> charges, std::span<Decision> decisions) {
  if (group.mode == GroupMode::each && charges.size() != 1) return false;
  bool refused = false;
  for (std::size_t i = 0; i < charges.size(); ++i) {
    decisions[i] = {.remaining = charges[i].limit->capacity()};
    refused = find(group, charges[i], decisions[i]) || refused;
  }
  if (!refused || group.mode != GroupMode::refused_alone) return refused;
  return std::ranges::all_of(decisions, &Decision::cached);
}

void DeniedStore::pass_on(const Group& group, std::span<const Charge> charges, std::span<const Decision> known,
                          std::size_t home, LateDecisions& late) {
  if (free_.empty()) {
    passed_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(passed_.size() - 1));
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Passed& passed = passed_[number];
  passed.ticket = group.ticket;
  passed.late = &late;
  passed.asked = now_;
  passed.watched.clear();
  passed.decisions.assign(known.begin(), known.end());
  passed.places.clear();
  Group asked = group;
  asked.ticket = {.request = number, .first_decision = 0};
  if (std::ranges::any_of(known, &Decision::cached)) {
    asked.verb = Verb::look;
    asked.mode = GroupMode::each;
  }
  for (std::uint32_t i = 0; i < charges.size(); ++i) {
    if (known[i].cached) continue;
    watch(group, charges[i], static_cast<std::uint32_t>(passed.places.size()), passed);
    passed.places.push_back(i);
    charges_.push_back(charges[i]);
  }
  asked.charge_count = static_cast<std::uint32_t>(passed.places.size());
  groups_.push_back(asked);
  home_.push_back(home);
  numbers_.push_back(number);
}

void DeniedStore::watch(const Group& group, const Charge& charge, std::uint32_t place, Passed& passed) {
  if (!may_keep(group, charge)) return;
  const bool original = is_original_window(*charge.limit);
  Watched watched = {.charge = place, .counter = charge.counter, .limit = check_of(charge)};
  watched.cost = original ? 0 : std::max<std::uint64_t>(charge.cost, 1);
  if (original) watched.window_end = end_of_window(*charge.limit, now_);
  watched.reading = table_->read(charge.counter);
  passed.watched.push_back(watched);
}

// Puts the answers beside what was known.
std::span<const Decision> DeniedStore::complete(Passed& passed, std::span<const Decision> decisions) {
  learn(passed, decisions);
  for (std::size_t i = 0; i < passed.places.size(); ++i) passed.decisions[passed.places[i]] = decisions[i];
  return passed.decisions;
}

void DeniedStore::on_decided(const Ticket& ticket, std::span<const Decision> decisions) {
  const auto number = static_cast<std::uint32_t>(ticket.request);
  Passed& passed = passed_[number];
  complete(passed, decisions);
  const std::vector<Decision> all = passed.decisions;
  const Ticket theirs = passed.ticket;
  LateDecisions& late = *passed.late;
  free_.push_back(number);
  late.on_decided(theirs, all);
}

void DeniedStore::learn(const Passed& passed, std::span<const Decision> decisions) {
  for (const Watched& watched : passed.watched) {
    const Decision& decision = decisions[watched.charge];
    const bool over = watched.window_end ? decision.refused() : decision.outcome == Outcome::denied;
    if (!over) continue;
    const Instant told = passed.asked + decision.retry_after;
    const Instant until = watched.window_end ? *watched.window_end : std::min(told, passed.asked + options_.longest);
    table_->keep(watched.counter,
                 {.limit = watched.limit,
                  .cost = watched.cost,
                  .until = until,
                  .fresh_at = passed.asked + decision.reset_after,
                  .remaining = decision.remaining},
                 passed.asked, watched.reading);
    kept_.add();
  }
}

}  // namespace penstock::store
