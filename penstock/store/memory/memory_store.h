#pragma once

#include <array>
#include <memory>

#include "penstock/metrics/counter.h"
#include "penstock/metrics/named.h"
#include "penstock/store/memory/table.h"
#include "penstock/store/store.h"

namespace penstock::store {

// The counts of TableTally, of one loop. All loops' `inserted` less `reused`, `evicted` and `emptied` is about how many
// counters the table holds, those included that expired and were not replaced yet.
struct MemoryStoreMetrics {
  metrics::Counter inserted;
  metrics::Counter reused;
  metrics::Counter evicted;
  metrics::Counter emptied;
  metrics::Counter lock_waits;
  metrics::Counter rebuilt;
  metrics::Counter mistaken;
};

inline constexpr std::array<metrics::Named<MemoryStoreMetrics>, 7> kMemoryStoreMetrics{{
    {"inserted", &MemoryStoreMetrics::inserted},
    {"reused", &MemoryStoreMetrics::reused},
    {"evicted", &MemoryStoreMetrics::evicted},
    {"emptied", &MemoryStoreMetrics::emptied},
    {"lock_waits", &MemoryStoreMetrics::lock_waits},
    {"rebuilt", &MemoryStoreMetrics::rebuilt},
    {"mistaken", &MemoryStoreMetrics::mistaken},
}};
static_assert(sizeof(MemoryStoreMetrics) == kMemoryStoreMetrics.size() * sizeof(metrics::Counter));

// The embedded store: one loop's front of a table that all loops share. Everything is answered in place, at `now`, so
// deadlines and `late` are never used.
//
// Threading: Loop-owned; the metrics may be read by any thread. Ownership: shares the table.
// Cost: no allocation in `submit`.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::shared_ptr<Table> table) noexcept;

  void submit(const Batch& batch, Instant now, LateDecisions& late) override;

  [[nodiscard]] const MemoryStoreMetrics& metrics() const noexcept { return metrics_; }

 private:
  const std::shared_ptr<Table> table_;
  TableScratch scratch_;
  MemoryStoreMetrics metrics_;
};

}  // namespace penstock::store
