#pragma once

#include <memory>

#include "penstock/store/memory/table.h"
#include "penstock/store/memory/table_metrics.h"
#include "penstock/store/store.h"

namespace penstock::store {

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
