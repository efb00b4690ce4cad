#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "penstock/store/memory/bucket.h"
#include "penstock/store/memory/log_home.h"
#include "penstock/store/memory/log_keeper.h"
#include "penstock/store/memory/note.h"
#include "penstock/store/memory/placement.h"
#include "penstock/store/memory/slots.h"
#include "penstock/store/memory/sync.h"
#include "penstock/store/memory/table_metrics.h"
#include "penstock/store/record.h"

namespace penstock::store {

// Of some buckets.
struct Census {
  std::uint64_t live = 0;
  std::uint64_t expired = 0;  // as good as fresh, and not met yet
};

// Where the counters of the table are: its buckets with their locks and stamps; finding, inserting, and who goes. Knows
// nothing of decisions. `Sync` is NoSync but in tests.
//
// Whatever takes a Turn and a bucket requires that this thread has entered the bucket.
// Threading: Thread-safe. Ownership: borrows the buckets and the home of the logs. Cost: no allocation.
template <class Sync>
class TablePlaces {
 public:
  // While a batch is decided.
  struct Turn {
    Instant now;
    std::uint32_t unit;  // of now
    MemoryStoreMetrics& metrics;
    ReadTally read = {};
  };

  // A counter's slots, none where it is not there.
  struct Found {
    Bucket* bucket;
    Slots slots;
  };

  // Requires: 1 <= buckets.size() < 2^32, all zero.
  TablePlaces(std::span<Bucket> buckets, LogHome& logs) noexcept
      : buckets_{buckets.data()}, bucket_count_{static_cast<std::uint32_t>(buckets.size())}, logs_{logs} {}

  [[nodiscard]] Turn start_turn(Instant now, MemoryStoreMetrics& metrics) noexcept {
    const std::uint32_t unit = last_unit_.load(std::memory_order_relaxed);
    if (!within_unit(now, unit)) [[unlikely]]
      return start_unit(now, metrics);
    return {.now = now, .unit = unit, .metrics = metrics};
  }

  [[nodiscard]] Address address_of(const Hash128& counter) const noexcept {
    return store::address_of(counter, bucket_count_);
  }
  [[nodiscard]] Bucket& bucket(std::uint32_t index) noexcept { return buckets_[index]; }

  // Locks the bucket, and sees to it that its instants can be read.
  void enter(Bucket& bucket, Turn& turn) noexcept {
    if (lock<Sync>(bucket)) [[unlikely]]
      turn.metrics.lock_waits.add();
    catch_up(bucket, turn);
  }
  // With the first entered enters the second as well, in ascending order: the first may have been left meanwhile.
  void enter_second(Bucket& first, Bucket& second, Turn& turn) noexcept;
  void leave(Bucket& bucket) noexcept { unlock<Sync>(bucket); }

  // Whether the bucket was last visited in the unit of this turn, as nearly always.
  [[nodiscard]] static bool is_current(Bucket& bucket, const Turn& turn) noexcept {
    return stamp_of(bucket) == (turn.unit & kStampMask);
  }

  [[nodiscard]] Slots find(Bucket& bucket, Tag tag) noexcept {
    Sync::reach(SyncPoint::finding, &bucket);
    return matching(bucket, tag);
  }
  [[nodiscard]] Found find_in_both(const Address& address) noexcept {
    Bucket& first = buckets_[address.first];
    if (const Slots slots = find(first, address.tag); slots != 0) return {.bucket = &first, .slots = slots};
    Bucket& second = buckets_[address.second];
    return {.bucket = &second, .slots = find(second, address.tag)};
  }

  // Empty where nothing was found.
  [[nodiscard]] Record read(const Found& found, const Turn& turn) noexcept {
    return found.slots == 0 ? Record{} : store::read(held(*found.bucket, turn), found.slots);
  }

  // Makes `after` of what was found there.
  void rewrite(const Found& found, const Record& before, const Record& after, Turn& turn) noexcept;

  // Takes in a counter that is in neither bucket, in the place of others where there is no other. Never fails.
  void insert(const Address& address, const Record& record, Turn& turn) noexcept;

  // Gives a log room for charges at this instant, in its slots and in `record`, and returns its ring.
  // Other records are left alone.
  algorithm::LogPlaces make_log_ready(const algorithm::Limit& limit, const Found& found, Record& record,
                                      Turn& turn) noexcept;
  [[nodiscard]] algorithm::LogPlaces log_places(const Record& record) const noexcept { return logs_.places(record); }

  // Of so many buckets from `first` on, going round. Changes nothing, and requires no bucket to be entered.
  [[nodiscard]] Census count(std::uint32_t first, std::uint32_t buckets, Instant now) noexcept;

 private:
  // A newcomer goes to its first bucket while so many of its slots are free, else to the emptier one. Four of seven: at
  // 5.33 counters a bucket one in five then lives in its second bucket, and one insertion in 2,500 evicts while the
  // table fills. If it always went to the emptier: one in three, and 1 in 7,000; if to the first until that is full:
  // one in seventeen, and 1 in 70. Where counters come and go all are equal.
  static constexpr std::uint32_t kRoomy = 4;

  [[nodiscard, gnu::noinline]] Turn start_unit(Instant now, MemoryStoreMetrics& metrics) noexcept;
  void catch_up(Bucket& bucket, Turn& turn) noexcept {
    if (!is_current(bucket, turn)) [[unlikely]]
      move_stamp(bucket, turn);
  }
  [[gnu::noinline]] void move_stamp(Bucket& bucket, Turn& turn) noexcept;
  static void bring_back(Bucket& bucket, std::uint32_t from, std::uint32_t to) noexcept;
  [[nodiscard]] static HeldBucket held(Bucket& bucket, const Turn& turn) noexcept {
    return {.bucket = bucket, .base = base_of(unit_of_stamp(stamp_of(bucket), turn.unit))};
  }

  [[nodiscard]] Bucket& choose_bucket(const Address& address, std::uint32_t wanted, Turn& turn) noexcept;
  void put(Bucket& bucket, Tag tag, const Record& record, Turn& turn) noexcept;
  std::uint32_t vacate_expired(Bucket& bucket, Turn& turn) noexcept;
  void vacate(Bucket& bucket, Slots slots, Turn& turn) noexcept;
  [[nodiscard]] bool give_up(const LogHome::Owned& owned, Turn& turn) noexcept;

  Bucket* const buckets_;
  const std::uint32_t bucket_count_;
  LogKeeper logs_;
  // That some turn was in lately; spares the next one a division. Relaxed: a mere guess.
  std::atomic<std::uint32_t> last_unit_{0};
};

template <class Sync>
auto TablePlaces<Sync>::start_unit(Instant now, MemoryStoreMetrics& metrics) noexcept -> Turn {
  const std::uint32_t unit = unit_of(coarse_second(now));
  last_unit_.store(unit, std::memory_order_relaxed);
  return {.now = now, .unit = unit, .metrics = metrics};
}

// A bucket that was last visited in an earlier unit: what is as good as fresh would be mistaken from here on. In the
// next unit: by a loop whose clock is ahead, or before the clock was set back a little; it stays there. Later: the
// clock had run away. Its instants come back as far as the clock did, or nothing in it would expire for as long; so a
// counter may look fresh early by that much, as it would have under the clock that ran away.
template <class Sync>
void TablePlaces<Sync>::move_stamp(Bucket& bucket, Turn& turn) noexcept {
  const std::uint32_t unit = unit_of_stamp(stamp_of(bucket), turn.unit);
  if (unit == turn.unit + 1) return;
  if (unit > turn.unit) {
    bring_back(bucket, base_of(unit), base_of(turn.unit));
  } else {
    vacate_expired(bucket, turn);
  }
  set_stamp(bucket, turn.unit & kStampMask);
}

template <class Sync>
void TablePlaces<Sync>::bring_back(Bucket& bucket, std::uint32_t from, std::uint32_t to) noexcept {
  for (Slots firsts = first_slots(bucket); firsts != 0; firsts = without_lowest(firsts)) {
    std::uint32_t& bits = bucket.notes[lowest(firsts)];
    const std::uint32_t fresh = note::unpack_instant(bits, from);
    if (fresh == Record::kFarthestSecond) continue;
    bits = note::renewed(bits, note::share(bits), note::pack_instant(fresh - from + to, to));
  }
}

template <class Sync>
void TablePlaces<Sync>::enter_second(Bucket& first, Bucket& second, Turn& turn) noexcept {
  if (&second > &first) {
    enter(second, turn);
    return;
  }
  Sync::reach(SyncPoint::locking, &second);
  if (try_lock(second)) {
    catch_up(second, turn);
    return;
  }
  leave(first);
  enter(second, turn);
  enter(first, turn);
}

template <class Sync>
void TablePlaces<Sync>::rewrite(const Found& found, const Record& before, const Record& after, Turn& turn) noexcept {
  Sync::reach(SyncPoint::writing, found.bucket);
  logs_.replace(before, after, turn.metrics);
  if (!after.empty() && fits(found.slots, after)) {
    write(held(*found.bucket, turn), found.slots, after);
    return;
  }
  const Tag tag = tag_in(*found.bucket, lowest(found.slots));
  set_tags(*found.bucket, found.slots, Tag{});
  if (after.empty()) {
    turn.metrics.emptied.add();
  } else {
    put(*found.bucket, tag, after, turn);
  }
}

template <class Sync>
void TablePlaces<Sync>::insert(const Address& address, const Record& record, Turn& turn) noexcept {
  Sync::reach(SyncPoint::inserting, buckets_ + address.first);
  turn.metrics.inserted.add();
  put(choose_bucket(address, slots_of_kind(record.kind), turn), address.tag, record, turn);
}

// The counter's bucket that has room for it, or the one where least is lost.
template <class Sync>
Bucket& TablePlaces<Sync>::choose_bucket(const Address& address, std::uint32_t wanted, Turn& turn) noexcept {
  const auto free_slots = [&](Bucket& bucket) {
    const std::uint32_t free = number_of(empty_slots(bucket));
    return free < kRoomy ? vacate_expired(bucket, turn) : free;
  };
  Bucket& first = buckets_[address.first];
  Bucket& second = buckets_[address.second];
  const std::uint32_t free_in_first = free_slots(first);
  if (free_in_first >= kRoomy || &first == &second) return first;
  const std::uint32_t free_in_second = free_slots(second);
  if (std::max(free_in_first, free_in_second) >= wanted) return free_in_first >= free_in_second ? first : second;
  const Victims in_first = choose_victims(held(first, turn), wanted);
  const Victims in_second = choose_victims(held(second, turn), wanted);
  return in_second.worth < in_first.worth ? second : first;
}

template <class Sync>
void TablePlaces<Sync>::put(Bucket& bucket, Tag tag, const Record& record, Turn& turn) noexcept {
  const std::uint32_t wanted = slots_of_kind(record.kind);
  Slots free = empty_slots(bucket);
  if (number_of(free) < wanted && vacate_expired(bucket, turn) > 0) free = empty_slots(bucket);
  if (number_of(free) < wanted) {
    const Counters victims = choose_victims(held(bucket, turn), wanted).counters;
    turn.metrics.evicted.add(victims.count);
    vacate(bucket, victims.slots, turn);
    free |= victims.slots;
  }
  const Slots left = wanted == 1 ? without_lowest(free) : without_lowest(without_lowest(free));
  const Slots taken = free & ~left;
  set_tags(bucket, taken, tag);
  write(held(bucket, turn), taken, record);
}

// Returns how many slots are free then.
template <class Sync>
std::uint32_t TablePlaces<Sync>::vacate_expired(Bucket& bucket, Turn& turn) noexcept {
  const Counters expired = expired_counters(held(bucket, turn), coarse_second(turn.now));
  if (expired.count > 0) {
    turn.metrics.expired.add(expired.count);
    vacate(bucket, expired.slots, turn);
  }
  return number_of(empty_slots(bucket));
}

// Takes counters out of their slots.
template <class Sync>
void TablePlaces<Sync>::vacate(Bucket& bucket, Slots slots, Turn& turn) noexcept {
  for (Slots firsts = slots & first_slots(bucket); firsts != 0; firsts = without_lowest(firsts)) {
    const Slots counter = slots_of_counter(bucket, lowest(firsts));
    logs_.release(store::read(held(bucket, turn), counter), turn.metrics);
  }
  set_tags(bucket, slots, Tag{});
}

template <class Sync>
algorithm::LogPlaces TablePlaces<Sync>::make_log_ready(const algorithm::Limit& limit, const Found& found,
                                                       Record& record, Turn& turn) noexcept {
  if (!limit.is_log() || !LogKeeper::is_log(record)) return {};
  const auto index = static_cast<std::uint32_t>(found.bucket - buckets_);
  const algorithm::State ready =
      logs_.ready(limit, record, {.bucket = index, .now = turn.now, .metrics = turn.metrics},
                  [this, &turn](const LogHome::Owned& owned) { return give_up(owned, turn); });
  if (ready != record.state) {
    record.state = ready;
    write(held(*found.bucket, turn), found.slots, record);
  }
  return logs_.places(record);
}

// Empties a bucket of what is as good as fresh, unless it is in use, be it by this thread. True if that ring's log was
// among it.
template <class Sync>
bool TablePlaces<Sync>::give_up(const LogHome::Owned& owned, Turn& turn) noexcept {
  Bucket& bucket = buckets_[owned.owner];
  Sync::reach(SyncPoint::locking, &bucket);
  if (!try_lock(bucket)) return false;
  const auto has_it = [&] {
    bool found = false;
    for (Slots firsts = first_slots(bucket); firsts != 0; firsts = without_lowest(firsts)) {
      const Slots counter = slots_of_counter(bucket, lowest(firsts));
      found |= LogKeeper::ring_of(store::read(held(bucket, turn), counter)) == owned.ring;
    }
    return found;
  };
  const bool had_it = has_it();
  catch_up(bucket, turn);
  if (had_it) vacate_expired(bucket, turn);
  const bool given_up = had_it && !has_it();
  leave(bucket);
  return given_up;
}

template <class Sync>
Census TablePlaces<Sync>::count(std::uint32_t first, std::uint32_t buckets, Instant now) noexcept {
  Census census;
  for (std::uint32_t i = 0; i < buckets; ++i) {
    Bucket& bucket = buckets_[(first + i) % bucket_count_];
    lock<Sync>(bucket);
    const std::uint32_t unit = unit_of_stamp(stamp_of(bucket), unit_of(coarse_second(now)));
    const HeldBucket held = {.bucket = bucket, .base = base_of(unit)};
    const std::uint32_t expired = expired_counters(held, coarse_second(now)).count;
    census.expired += expired;
    census.live += number_of(first_slots(bucket)) - expired;
    unlock<Sync>(bucket);
  }
  return census;
}

}  // namespace penstock::store
