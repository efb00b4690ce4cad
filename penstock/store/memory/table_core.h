#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/algorithm/plain.h"
#include "penstock/base/check.h"
#include "penstock/store/group.h"
#include "penstock/store/memory/bucket.h"
#include "penstock/store/memory/look_ahead.h"
#include "penstock/store/memory/note.h"
#include "penstock/store/memory/slots.h"
#include "penstock/store/memory/sync.h"
#include "penstock/store/memory/table_metrics.h"
#include "penstock/store/memory/table_places.h"
#include "penstock/store/memory/table_scratch.h"
#include "penstock/store/store.h"

namespace penstock::store {

// How the table of table.h decides, on buckets that somebody else provides. `Sync` is NoSync but in tests.
//
// Nearly all charges are decisions on a counter that is in the table: `decide_in` is the short way for them, compiled
// in one piece for states of one word. All else goes the long way, `decide_anywhere`, or as a group.
//
// Threading: Thread-safe. Ownership: borrows the buckets and the home of the logs. Cost: no allocation.
template <class Sync>
class TableCore {
 public:
  // Requires: 1 <= buckets.size() < 2^32, all zero.
  TableCore(std::span<Bucket> buckets, LogHome& logs) noexcept : places_{buckets, logs} {}

  void decide(const Batch& batch, Instant now, TableScratch& scratch, MemoryStoreMetrics& metrics) noexcept;

  // As TablePlaces.
  [[nodiscard]] Census count(std::uint32_t first, std::uint32_t buckets, Instant now) noexcept {
    return places_.count(first, buckets, now);
  }

 private:
  using Decision = algorithm::Decision;
  using Verb = algorithm::Verb;
  using Turn = typename TablePlaces<Sync>::Turn;
  using Found = typename TablePlaces<Sync>::Found;

  [[gnu::flatten]] void decide_alone(const Batch& batch, Instant now, TableScratch& scratch,
                                     MemoryStoreMetrics& metrics) noexcept;
  [[gnu::noinline, gnu::flatten]] void decide_elsewhere(const Charge& charge, Turn turn, Decision& decision) noexcept;
  [[gnu::noinline, gnu::flatten]] void decide_all(const Batch& batch, Instant now, TableScratch& scratch,
                                                  MemoryStoreMetrics& metrics) noexcept;
  void decide_singly(const Group& group, const Batch& batch, LookAhead<Sync>& ahead, Turn& turn) noexcept;
  [[nodiscard]] bool decide_in(Bucket& bucket, const Charge& charge, Turn& turn, Decision& decision) noexcept;
  void charge_plain(Bucket& bucket, std::uint32_t slot, const Charge& charge, const Turn& turn,
                    Decision& decision) noexcept;
  [[gnu::noinline]] void charge_two_words(Bucket& bucket, Slots slots, const Charge& charge, const Turn& turn,
                                          Decision& decision) noexcept;
  [[nodiscard, gnu::noinline]] Decision decide_anywhere(const Charge& charge, Verb verb, Turn& turn) noexcept;
  [[nodiscard]] Decision charge_found(const Found& found, const Charge& charge, Verb verb, Turn& turn) noexcept;
  [[nodiscard]] Decision charge_new(const Address& address, const Charge& charge, Verb verb, Turn& turn) noexcept;

  struct Together {
    const Group& group;
    std::span<const Charge> charges;
    std::span<Decision> decisions;
  };
  [[gnu::noinline]] void decide_together(const Together& together, TableScratch& scratch, Turn& turn) noexcept;
  [[nodiscard]] std::span<std::uint32_t> enter_all(TableScratch& scratch, Turn& turn) noexcept;
  void keep(const GroupSheet::Line& line, Turn& turn) noexcept;

  [[nodiscard]] static bool goes_short_way(Verb verb, const Charge& charge) noexcept {
    return verb == Verb::decide && !charge.accepts_wait;
  }

  // Words that are all there is to the state, in the clock's own time.
  [[nodiscard]] static bool has_two_words(const algorithm::Limit& limit) noexcept {
    return !limit.is_log() && !limit.spreads_windows();
  }

  // Field by field: what was put together in registers is not read back from memory in larger pieces.
  static void assign(Decision& to, const Decision& from) noexcept {
    to.outcome = from.outcome;
    to.cause = from.cause;
    to.charged = from.charged;
    to.remaining = from.remaining;
    to.retry_after = from.retry_after;
    to.reset_after = from.reset_after;
    to.count_before = from.count_before;
  }

  static void count_reads(const Turn& turn) noexcept {
    if (turn.read.rebuilt != 0) turn.metrics.rebuilt.add(turn.read.rebuilt);
    if (turn.read.mistaken != 0) turn.metrics.mistaken.add(turn.read.mistaken);
  }

  TablePlaces<Sync> places_;
};

template <class Sync>
void TableCore<Sync>::decide(const Batch& batch, Instant now, TableScratch& scratch,
                             MemoryStoreMetrics& metrics) noexcept {
  PENSTOCK_CHECK(batch.decisions.size() == batch.charges.size());
  const bool alone = batch.charges.size() == 1 && batch.groups.size() == 1;
  return alone ? decide_alone(batch, now, scratch, metrics) : decide_all(batch, now, scratch, metrics);
}

// What comes one by one: nothing to look ahead to.
template <class Sync>
void TableCore<Sync>::decide_alone(const Batch& batch, Instant now, TableScratch& scratch,
                                   MemoryStoreMetrics& metrics) noexcept {
  const Group& group = *batch.groups.data();
  const Charge& charge = *batch.charges.data();
  Decision& decision = *batch.decisions.data();
  if (group.charge_count != 1 || group.mode != GroupMode::each || !goes_short_way(group.verb, charge)) {
    decide_all(batch, now, scratch, metrics);
    return;
  }
  Turn turn = places_.start_turn(now, metrics);
  Bucket& first = places_.bucket(places_.address_of(charge.counter).first);
  if (!decide_in(first, charge, turn, decision)) decide_elsewhere(charge, turn, decision);
}

// After the first bucket.
template <class Sync>
void TableCore<Sync>::decide_elsewhere(const Charge& charge, Turn turn, Decision& decision) noexcept {
  Bucket& second = places_.bucket(places_.address_of(charge.counter).second);
  if (decide_in(second, charge, turn, decision)) return;
  decision = decide_anywhere(charge, Verb::decide, turn);
  count_reads(turn);
}

template <class Sync>
void TableCore<Sync>::decide_all(const Batch& batch, Instant now, TableScratch& scratch,
                                 MemoryStoreMetrics& metrics) noexcept {
  Turn turn = places_.start_turn(now, metrics);
  LookAhead<Sync> ahead{places_, batch.charges, scratch.likely};
  for (const Group& group : batch.groups) {
    const std::size_t next = ahead.done();
    const std::size_t count = group.charge_count;
    PENSTOCK_CHECK(count >= 1 && count <= batch.charges.size() - next);
    if (group.mode == GroupMode::each || decided_singly(group, batch.charges.subspan(next, count))) {
      decide_singly(group, batch, ahead, turn);
    } else {
      ahead.skip(count);
      decide_together({group, batch.charges.subspan(next, count), batch.decisions.subspan(next, count)}, scratch, turn);
    }
  }
  count_reads(turn);
}

template <class Sync>
void TableCore<Sync>::decide_singly(const Group& group, const Batch& batch, LookAhead<Sync>& ahead,
                                    Turn& turn) noexcept {
  const Charge* charge = batch.charges.data() + ahead.done();
  Decision* decision = batch.decisions.data() + ahead.done();
  for (const Charge* const end = charge + group.charge_count; charge != end; ++charge, ++decision) {
    Bucket& likely = ahead.next();
    if (goes_short_way(group.verb, *charge) && decide_in(likely, *charge, turn, *decision)) continue;
    *decision = decide_anywhere(*charge, group.verb, turn);
  }
}

// Decides if the counter is in that bucket and its state is of use as it is; else returns false.
template <class Sync>
bool TableCore<Sync>::decide_in(Bucket& bucket, const Charge& charge, Turn& turn, Decision& decision) noexcept {
  const algorithm::Limit& limit = *charge.limit;
  if (lock<Sync>(bucket)) [[unlikely]]
    turn.metrics.lock_waits.add();
  const Slots slots = places_.find(bucket, tag_of(charge.counter));
  const std::uint32_t slot = lowest(slots);
  const bool usable = slots != 0 && note::mark(bucket.notes[slot]) == limit.scale_check() &&
                      TablePlaces<Sync>::is_current(bucket, turn);
  if (!usable || !(limit.is_plain() || has_two_words(limit))) [[unlikely]] {
    unlock<Sync>(bucket);
    return false;
  }
  if (limit.is_plain()) [[likely]] {
    charge_plain(bucket, slot, charge, turn, decision);
  } else {
    charge_two_words(bucket, slots, charge, turn, decision);
  }
  unlock<Sync>(bucket, turn.unit);
  return true;
}

template <class Sync>
void TableCore<Sync>::charge_plain(Bucket& bucket, std::uint32_t slot, const Charge& charge, const Turn& turn,
                                   Decision& decision) noexcept {
  const algorithm::Limit& limit = *charge.limit;
  const std::uint64_t before = bucket.words[slot];
  const algorithm::Step step = algorithm::apply_plain(limit, {.word = before}, {.cost = charge.cost, .now = turn.now});
  assign(decision, step.decision);
  if (!step.decision.charged && step.state.word == before) return;
  Sync::reach(SyncPoint::writing, &bucket);
  bucket.words[slot] = step.state.word;
  bucket.notes[slot] = note::renewed(bucket.notes[slot], share_of(limit.capacity(), step.decision.remaining),
                                     note::pack_instant(fresh_second(step.decision, turn.now), base_of(turn.unit)));
}

template <class Sync>
void TableCore<Sync>::charge_two_words(Bucket& bucket, Slots slots, const Charge& charge, const Turn& turn,
                                       Decision& decision) noexcept {
  const std::uint32_t slot = lowest(slots), second = lowest(without_lowest(slots));
  const algorithm::State before = {.word = bucket.words[slot], .second = bucket.words[second]};
  const algorithm::Step step = algorithm::apply(*charge.limit, before, {.cost = charge.cost, .now = turn.now});
  assign(decision, step.decision);
  if (!step.decision.charged && step.state == before) return;
  Sync::reach(SyncPoint::writing, &bucket);
  write({.bucket = bucket, .base = base_of(turn.unit)}, slots, record_after(*charge.limit, step, turn.now));
}

// A counter that may be in either bucket or in none, of any kind.
template <class Sync>
algorithm::Decision TableCore<Sync>::decide_anywhere(const Charge& charge, Verb verb, Turn& turn) noexcept {
  const Address address = places_.address_of(charge.counter);
  Bucket& first = places_.bucket(address.first);
  places_.enter(first, turn);
  if (const Slots slots = places_.find(first, address.tag); slots != 0) {
    const Decision decision = charge_found({.bucket = &first, .slots = slots}, charge, verb, turn);
    places_.leave(first);
    return decision;
  }
  Bucket& second = places_.bucket(address.second);
  turn.metrics.long_probes.add();
  if (&second != &first) places_.enter_second(first, second, turn);
  const Found found = places_.find_in_both(address);
  const Decision decision =
      found.slots != 0 ? charge_found(found, charge, verb, turn) : charge_new(address, charge, verb, turn);
  if (&second != &first) places_.leave(second);
  places_.leave(first);
  return decision;
}

template <class Sync>
algorithm::Decision TableCore<Sync>::charge_found(const Found& found, const Charge& charge, Verb verb,
                                                  Turn& turn) noexcept {
  Record before = places_.read(found, turn);
  const algorithm::LogPlaces log =
      verb == Verb::look ? places_.log_places(before) : places_.make_log_ready(*charge.limit, found, before, turn);
  Record record = before;
  const Decision decision = apply_charge(record, charge, verb, turn.now, turn.read, log);
  if (verb != Verb::look && record != before) places_.rewrite(found, before, record, turn);
  return decision;
}

template <class Sync>
algorithm::Decision TableCore<Sync>::charge_new(const Address& address, const Charge& charge, Verb verb,
                                                Turn& turn) noexcept {
  Record record;
  const Decision decision = apply_charge(record, charge, verb, turn.now, turn.read);
  if (verb != Verb::look && !record.empty()) places_.insert(address, record, turn);
  return decision;
}

template <class Sync>
void TableCore<Sync>::decide_together(const Together& together, TableScratch& scratch, Turn& turn) noexcept {
  const auto& [group, charges, decisions] = together;
  GroupSheet& sheet = scratch.sheet;
  sheet.list_counters(charges);
  const std::span<std::uint32_t> entered = enter_all(scratch, turn);
  for (GroupSheet::Line& line : sheet.lines()) {
    line.before = places_.read(places_.find_in_both(places_.address_of(line.counter)), turn);
    line.places = {};
  }
  for (std::size_t i = 0; i < charges.size(); ++i) {
    GroupSheet::Line& line = sheet.line[sheet.line_of[i]];
    if (!charges[i].limit->is_log() || line.before.empty()) continue;
    const Found found = places_.find_in_both(places_.address_of(line.counter));
    line.places = places_.make_log_ready(*charges[i].limit, found, line.before, turn);
  }
  decide_group(group, charges, sheet, decisions, turn.now, turn.read);
  // Those that have a place first: a newcomer may push one of them out, which then is gone.
  for (const bool newcomers : {false, true}) {
    for (const GroupSheet::Line& line : sheet.lines()) {
      if (line.before.empty() == newcomers && line.record != line.before) keep(line, turn);
    }
  }
  for (const std::uint32_t bucket : entered) places_.leave(places_.bucket(bucket));
}

// All buckets of the group's counters, each once, in ascending order.
template <class Sync>
std::span<std::uint32_t> TableCore<Sync>::enter_all(TableScratch& scratch, Turn& turn) noexcept {
  std::size_t count = 0;
  for (const GroupSheet::Line& line : scratch.sheet.lines()) {
    const Address address = places_.address_of(line.counter);
    scratch.buckets[count++] = address.first;
    scratch.buckets[count++] = address.second;
  }
  const auto all = std::span{scratch.buckets}.first(count);
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  const auto distinct = all.first(all.size() - repeated.size());
  for (const std::uint32_t bucket : distinct) places_.enter(places_.bucket(bucket), turn);
  return distinct;
}

// Looks for the counter again: a newcomer of the group may have its place, or its name.
template <class Sync>
void TableCore<Sync>::keep(const GroupSheet::Line& line, Turn& turn) noexcept {
  const Address address = places_.address_of(line.counter);
  if (const Found found = places_.find_in_both(address); found.slots != 0) {
    places_.rewrite(found, places_.read(found, turn), line.record, turn);
  } else if (line.before.empty()) {
    places_.insert(address, line.record, turn);
  }
}

}  // namespace penstock::store
