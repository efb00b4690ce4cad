#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "penstock/base/error.h"
#include "penstock/store/group.h"
#include "penstock/store/memory/bucket.h"
#include "penstock/store/store.h"

namespace penstock::store {

struct TableOptions {
  // Counters that the table is made for, Table::kMinCapacityKeys to kMaxCapacityKeys. 36.6 bytes each; at this many
  // live ones about one insertion in 2000 evicts, and ever more beyond.
  std::uint64_t capacity_keys = 1'000'000;
};

// What a batch did to the table.
struct TableTally {
  std::uint64_t inserted = 0;    // counters that took a place
  std::uint64_t reused = 0;      // of these: the place of one that was as good as fresh
  std::uint64_t evicted = 0;     // of these: the place of one that was not; that one starts fresh
  std::uint64_t emptied = 0;     // places given up since a refund made the counter as good as fresh
  std::uint64_t lock_waits = 0;  // locks that another thread held
  ReadTally read;
};

// The room that deciding takes beside the table; kept for reuse by whoever calls.
struct TableScratch {
  GroupSheet sheet;
  std::array<std::uint32_t, 2 * Group::kMaxCharges> buckets = {};
};

// The embedded store's counters: a fixed number of buckets of two cache lines, two candidate buckets for each counter,
// every decision under the locks of the buckets that it may touch, taken in ascending order. So exact under races,
// insertions and groups included. Expiry is lazy, there are no timers; it never grows and never refuses: when both
// buckets are full the counter of least worth is pushed out (see placement.h).
//
// Threading: Thread-safe (a lock word per bucket); loops share one. Cost: no allocation after construction, and memory
// that was never touched is not resident.
class Table {
 public:
  static constexpr std::uint64_t kMinCapacityKeys = 8;
  static constexpr std::uint64_t kMaxCapacityKeys = 10'000'000'000;  // 366 GB

  // Errors: invalid_argument for a capacity out of range, resource_exhausted where the memory is not to be had.
  [[nodiscard]] static Result<std::unique_ptr<Table>> create(const TableOptions& options);

  // Decides all groups of the batch in place, in order. A group of mode `each` is taken charge by charge.
  void decide(const Batch& batch, Instant now, TableScratch& scratch, TableTally& tally) noexcept;

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return std::uint64_t{bucket_count_} * sizeof(Bucket); }

 private:
  struct Free {
    void operator()(void* memory) const noexcept;
  };
  using Memory = std::unique_ptr<void, Free>;

  Table(Memory memory, Bucket* buckets, std::uint32_t bucket_count) noexcept;

  void prefetch_counter(const Hash128& counter) const noexcept;
  algorithm::Decision decide_one(const Charge& charge, algorithm::Verb verb, Instant now, TableTally& tally) noexcept;
  void decide_together(const Group& group, std::span<const Charge> charges, std::span<algorithm::Decision> decisions,
                       Instant now, TableScratch& scratch, TableTally& tally) noexcept;
  std::span<std::uint32_t> lock_all(TableScratch& scratch, TableTally& tally) noexcept;
  void keep(const Hash128& counter, const Record& record, Instant now, TableTally& tally) noexcept;
  void insert(const Address& address, const Record& record, Instant now, TableTally& tally) noexcept;

  const Memory memory_;
  Bucket* const buckets_;
  const std::uint32_t bucket_count_;
};

}  // namespace penstock::store
