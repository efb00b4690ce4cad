#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/table_load.h"
#include "penstock/algorithm/plain.h"
#include "penstock/store/memory/bucket.h"
#include "penstock/store/memory/note.h"
#include "penstock/store/memory/table_memory.h"
#include "penstock/store/record.h"

namespace penstock::bench {

// An experiment: the table's buckets, of which a hit changes the state's word by compare-and-swap instead of under the
// bucket's lock, and the note after it by a plain store. It decides on counters of one word that are there and on
// nothing else, so it leaves out what a whole such table would have to do as well: who reuses a slot would have to make
// every hit on it fail (by a version in the word, or by changing word and tag in one), and what is read of a note may
// be of another state. Its figures are the least that such a path can cost. See docs/decisions/0011.
class CasTable {
 public:
  explicit CasTable(std::uint32_t bucket_count)
      : memory_{store::TableMemory::map(std::uint64_t{bucket_count} * sizeof(store::Bucket)).value()},
        buckets_{static_cast<store::Bucket*>(memory_.data())},
        bucket_count_{bucket_count} {}

  // Puts a counter in; its place as in the table, at most seven of them in a bucket. Not for several threads.
  void insert(const Hash128& counter, const algorithm::Limit& limit, std::uint64_t word) noexcept {
    const store::Address address = store::address_of(counter, bucket_count_);
    const std::uint32_t free_in_first = store::number_of(store::empty_slots(buckets_[address.first]));
    const std::uint32_t free_in_second = store::number_of(store::empty_slots(buckets_[address.second]));
    const bool goes_first = free_in_first >= 4 || free_in_first >= free_in_second;
    store::Bucket& bucket = buckets_[goes_first ? address.first : address.second];
    const store::Slots free = store::empty_slots(bucket);
    if (free == 0) return;
    const std::uint32_t slot = store::lowest(free);
    bucket.tag_low[slot] = address.tag.low;
    bucket.tag_high[slot] = address.tag.high;
    bucket.words[slot] = word;
    bucket.notes[slot] = std::uint32_t{limit.scale_check()} << store::note::kScaleShift;
  }

  // Looks ahead as the table does (look_ahead.h).
  void submit(const store::Batch& batch, Instant now) noexcept {
    const std::size_t total = batch.charges.size();
    if (total == 1) {
      const store::Address address = store::address_of(batch.charges[0].counter, bucket_count_);
      if (decide(address.first, batch.charges[0], now, batch.decisions[0])) return;
      decide(address.second, batch.charges[0], now, batch.decisions[0]);
      return;
    }
    std::array<std::uint32_t, 16> likely;
    std::size_t tags = 0, buckets = 0;
    for (std::size_t i = 0; i < total; ++i) {
      for (const std::size_t to = std::min(i + 25, total); tags < to; ++tags) {
        const store::Address address = store::address_of(batch.charges[tags].counter, bucket_count_);
        store::prefetch_tags(buckets_[address.first]);
      }
      for (const std::size_t to = std::min(i + 9, total); buckets < to; ++buckets) {
        const store::Address address = store::address_of(batch.charges[buckets].counter, bucket_count_);
        const bool first = store::glimpse(buckets_[address.first], address.tag);
        likely[buckets % likely.size()] = first ? address.first : address.second;
        store::prefetch(buckets_[likely[buckets % likely.size()]]);
      }
      decide(likely[i % likely.size()], batch.charges[i], now, batch.decisions[i]);
    }
  }

 private:
  [[gnu::flatten]] bool decide(std::uint32_t index, const store::Charge& charge, Instant now,
                               algorithm::Decision& decision) noexcept {
    const algorithm::Limit& limit = *charge.limit;
    store::Bucket& bucket = buckets_[index];
    const store::Slots slots = store::matching(bucket, store::tag_of(charge.counter));
    if (slots == 0) return false;
    const std::uint32_t slot = store::lowest(slots);
    const std::uint32_t note = bucket.notes[slot];
    if (store::note::mark(note) != limit.scale_check()) return false;
    const std::atomic_ref<std::uint64_t> word{bucket.words[slot]};
    std::uint64_t before = word.load(std::memory_order_relaxed);
    while (true) {
      const algorithm::Step step = algorithm::apply_plain(limit, {.word = before}, {.cost = charge.cost, .now = now});
      decision.outcome = step.decision.outcome;
      decision.charged = step.decision.charged;
      decision.remaining = step.decision.remaining;
      decision.retry_after = step.decision.retry_after;
      decision.reset_after = step.decision.reset_after;
      decision.count_before = step.decision.count_before;
      if (step.state.word == before) return true;
      if (!word.compare_exchange_weak(before, step.state.word, std::memory_order_relaxed)) continue;
      const std::uint32_t share = store::share_of(limit.capacity(), step.decision.remaining);
      const std::uint32_t base = store::base_of(store::unit_of(store::coarse_second(kStart)));
      const std::uint32_t instant = store::note::pack_instant(store::fresh_second(step.decision, now), base);
      std::atomic_ref<std::uint32_t>{bucket.notes[slot]}.store(store::note::renewed(note, share, instant),
                                                               std::memory_order_relaxed);
      return true;
    }
  }

  const store::TableMemory memory_;
  store::Bucket* const buckets_;
  const std::uint32_t bucket_count_;
};

}  // namespace penstock::bench
