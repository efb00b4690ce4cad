#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "penstock/base/error.h"
#include "penstock/store/memory/log_home.h"
#include "penstock/store/memory/sync.h"
#include "penstock/store/memory/table_memory.h"
#include "penstock/store/memory/table_metrics.h"
#include "penstock/store/memory/table_scratch.h"
#include "penstock/store/store.h"

namespace penstock::store {

template <class Sync>
class TableCore;

struct TableOptions {
  // Counters that the table is made for, Table::kMinCapacityKeys to kMaxCapacityKeys, 24 bytes each; a counter whose
  // state has two words (sliding_window, sliding_log, a peak) counts as two. At this many live ones one insertion in
  // 2,500 evicts while the table fills, one in 30 where counters come and go, and ever more beyond (bench/README.md).
  std::uint64_t capacity_keys = 1'000'000;
  // In place of `capacity_keys`: the bytes of the table, Table::kMinCapacityBytes to kMaxCapacityBytes.
  std::optional<std::uint64_t> capacity_bytes = std::nullopt;
  // For the entries of sliding logs, beside the table: 0 to LogHome::kMaxBytes. Where it is used up logs fold.
  std::uint64_t log_bytes = 64 * 1024 * 1024;
};

// The embedded store's counters: a fixed number of buckets of two cache lines, two candidate buckets for each counter,
// every decision under the locks of the buckets that it may touch. So exact under races, insertions and groups
// included. Expiry is lazy, there are no timers; it never grows and never refuses: where both buckets are full, a
// counter of least worth is pushed out (placement.h). Layout: bucket.h and note.h; docs/decisions/0012 says why.
//
// Threading: Thread-safe (a lock bit per bucket); loops share one. Cost: no allocation after construction; what part of
// it becomes resident when, table_memory.h says.
class Table {
 public:
  static constexpr std::uint64_t kBytesAKey = 24;
  static constexpr std::uint64_t kMinCapacityKeys = 8;
  static constexpr std::uint64_t kMaxCapacityKeys = 10'000'000'000;
  static constexpr std::uint64_t kMinCapacityBytes = kMinCapacityKeys * kBytesAKey;
  static constexpr std::uint64_t kMaxCapacityBytes = kMaxCapacityKeys * kBytesAKey;

  // Errors: invalid_argument for a capacity out of range, resource_exhausted where the memory is not to be had.
  [[nodiscard]] static Result<std::unique_ptr<Table>> create(const TableOptions& options);
  ~Table();

  // Decides all groups of the batch in place, in order. A group of mode `each` is taken charge by charge.
  void decide(const Batch& batch, Instant now, TableScratch& scratch, MemoryStoreMetrics& metrics) noexcept;

  // About how many counters it holds that are not as good as fresh at `now`: counted in 1,024 buckets in a row and
  // scaled up, so exact where there are no more. Cost: tens of microseconds.
  [[nodiscard]] std::uint64_t live_counters(Instant now) const noexcept;

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  [[nodiscard]] std::uint64_t capacity_keys() const noexcept { return memory_bytes() / kBytesAKey; }
  [[nodiscard]] LogHome::Usage logs_in_use() const noexcept { return logs_->in_use(); }
  [[nodiscard]] PageSize page_size() const noexcept { return memory_.page_size(); }

 private:
  Table(TableMemory memory, std::uint64_t bucket_count, std::unique_ptr<LogHome> logs) noexcept;

  const TableMemory memory_;
  const std::uint64_t bucket_count_;
  const std::unique_ptr<LogHome> logs_;
  const std::unique_ptr<TableCore<NoSync>> core_;
};

}  // namespace penstock::store
