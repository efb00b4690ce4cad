#include "penstock/store/memory/table.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "penstock/base/check.h"
#include "penstock/store/memory/placement.h"

namespace penstock::store {
namespace {

using algorithm::Decision;
using algorithm::Verb;

// Ten slots for seven counters, so that both buckets of a new one are seldom full: measured with random keys, 0.05 % at
// this load, 0.5 % at 0.8.
constexpr std::uint64_t kKeysPerTwoBuckets = 7;

// How far ahead of the charge being decided its buckets are fetched: enough to cover a miss to memory, few enough for
// the processor's outstanding misses.
constexpr std::size_t kLookAhead = 8;

// Writes a counter's record back to the slot that held it.
void update(Slot& slot, const Record& record, TableTally& tally) {
  slot.record = record;
  if (record.empty()) ++tally.emptied;
}

// Two buckets of one counter, locked as far as they were needed.
class PairLock {
 public:
  PairLock(Bucket& first, Bucket& second, TableTally& tally) noexcept : first_{first}, second_{second}, tally_{tally} {
    tally_.lock_waits += lock(first_);
  }
  ~PairLock() {
    if (both_) unlock(second_);
    unlock(first_);
  }
  PairLock(const PairLock&) = delete;
  PairLock& operator=(const PairLock&) = delete;

  // The counter's slot, or null when it is in neither bucket; then both are locked.
  Slot* find_slot(std::uint64_t tag) noexcept {
    if (Slot* slot = find(first_, tag)) return slot;
    if (&first_ == &second_) return nullptr;
    tally_.lock_waits += lock(second_);
    both_ = true;
    return find(second_, tag);
  }

 private:
  Bucket& first_;
  Bucket& second_;
  TableTally& tally_;
  bool both_ = false;
};

}  // namespace

void Table::Free::operator()(void* memory) const noexcept { std::free(memory); }

Result<std::unique_ptr<Table>> Table::create(const TableOptions& options) {
  const std::uint64_t keys = options.capacity_keys;
  if (keys < kMinCapacityKeys || keys > kMaxCapacityKeys) {
    return fail(ErrorCode::invalid_argument, fmt::format("a table for {} counters is out of range: {} to {}", keys,
                                                         kMinCapacityKeys, kMaxCapacityKeys));
  }
  const std::uint64_t bucket_count = (keys * 2 + kKeysPerTwoBuckets - 1) / kKeysPerTwoBuckets;
  // Zero pages straight from the system, made into an aligned array by giving up one bucket.
  Memory memory{std::calloc(bucket_count + 1, sizeof(Bucket))};
  if (!memory) {
    return fail(ErrorCode::resource_exhausted, fmt::format("a table for {} counters needs {} bytes, which are not free",
                                                           keys, bucket_count * sizeof(Bucket)));
  }
  void* start = memory.get();
  std::size_t room = (bucket_count + 1) * sizeof(Bucket);
  PENSTOCK_CHECK(std::align(sizeof(Bucket), bucket_count * sizeof(Bucket), start, room) != nullptr);
  return std::unique_ptr<Table>{
      new Table{std::move(memory), static_cast<Bucket*>(start), static_cast<std::uint32_t>(bucket_count)}};
}

Table::Table(Memory memory, Bucket* buckets, std::uint32_t bucket_count) noexcept
    : memory_{std::move(memory)}, buckets_{buckets}, bucket_count_{bucket_count} {}

void Table::decide(const Batch& batch, Instant now, TableScratch& scratch, TableTally& tally) noexcept {
  PENSTOCK_CHECK(batch.decisions.size() == batch.charges.size());
  const std::size_t total = batch.charges.size();
  std::size_t fetched = 0;
  std::size_t next = 0;
  const auto fetch_to = [&](std::size_t end) {
    for (end = std::min(end, total); fetched < end; ++fetched) prefetch_counter(batch.charges[fetched].counter);
  };
  for (const Group& group : batch.groups) {
    PENSTOCK_CHECK(group.charge_count >= 1 && group.charge_count <= total - next);
    const auto charges = batch.charges.subspan(next, group.charge_count);
    const auto decisions = batch.decisions.subspan(next, group.charge_count);
    if (decided_singly(group, charges)) {
      for (std::size_t i = 0; i < charges.size(); ++i) {
        fetch_to(next + i + kLookAhead);
        decisions[i] = decide_one(charges[i], group.verb, now, tally);
      }
    } else {
      fetch_to(next + charges.size() + kLookAhead);
      decide_together(group, charges, decisions, now, scratch, tally);
    }
    next += group.charge_count;
  }
}

void Table::prefetch_counter(const Hash128& counter) const noexcept {
  const Address address = address_of(counter, bucket_count_);
  prefetch(buckets_[address.first]);
  prefetch(buckets_[address.second]);
}

Decision Table::decide_one(const Charge& charge, Verb verb, Instant now, TableTally& tally) noexcept {
  const Address address = address_of(charge.counter, bucket_count_);
  PairLock locks{buckets_[address.first], buckets_[address.second], tally};
  Slot* slot = locks.find_slot(address.tag);
  const Record before = slot == nullptr ? Record{} : slot->record;
  Record record = before;
  const Decision decision = apply_charge(record, charge, verb, now, tally.read);
  if (record == before || verb == Verb::look) return decision;
  if (slot != nullptr) {
    update(*slot, record, tally);
  } else if (!record.empty()) {
    insert(address, record, now, tally);
  }
  return decision;
}

void Table::decide_together(const Group& group, std::span<const Charge> charges, std::span<Decision> decisions,
                            Instant now, TableScratch& scratch, TableTally& tally) noexcept {
  GroupSheet& sheet = scratch.sheet;
  sheet.list_counters(charges);
  const std::span<std::uint32_t> locked = lock_all(scratch, tally);
  for (GroupSheet::Line& line : sheet.lines()) {
    const Address address = address_of(line.counter, bucket_count_);
    const Slot* slot = find(buckets_[address.first], address.tag);
    if (slot == nullptr) slot = find(buckets_[address.second], address.tag);
    line.before = slot == nullptr ? Record{} : slot->record;
  }
  decide_group(group, charges, sheet, decisions, now, tally.read);
  for (const GroupSheet::Line& line : sheet.lines()) {
    if (line.record != line.before) keep(line.counter, line.record, now, tally);
  }
  for (const std::uint32_t bucket : locked) unlock(buckets_[bucket]);
}

std::span<std::uint32_t> Table::lock_all(TableScratch& scratch, TableTally& tally) noexcept {
  std::size_t count = 0;
  for (const GroupSheet::Line& line : scratch.sheet.lines()) {
    const Address address = address_of(line.counter, bucket_count_);
    scratch.buckets[count++] = address.first;
    scratch.buckets[count++] = address.second;
  }
  const auto all = std::span{scratch.buckets}.first(count);
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  const auto distinct = all.first(all.size() - repeated.size());
  for (const std::uint32_t bucket : distinct) tally.lock_waits += lock(buckets_[bucket]);
  return distinct;
}

// Looks the slot up again: an insertion for another counter of the group may have taken it.
void Table::keep(const Hash128& counter, const Record& record, Instant now, TableTally& tally) noexcept {
  const Address address = address_of(counter, bucket_count_);
  Slot* slot = find(buckets_[address.first], address.tag);
  if (slot == nullptr) slot = find(buckets_[address.second], address.tag);
  if (slot != nullptr) {
    update(*slot, record, tally);
  } else if (!record.empty()) {
    insert(address, record, now, tally);
  }
}

void Table::insert(const Address& address, const Record& record, Instant now, TableTally& tally) noexcept {
  const Place place = choose_place(buckets_[address.first], buckets_[address.second], coarse_second(now));
  *place.slot = {.tag = address.tag, .record = record};
  ++tally.inserted;
  if (place.placement == Placement::expired_place) ++tally.reused;
  if (place.placement == Placement::evicted) ++tally.evicted;
}

}  // namespace penstock::store
