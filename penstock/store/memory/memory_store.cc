#include "penstock/store/memory/memory_store.h"

#include <utility>

#include "penstock/base/check.h"

namespace penstock::store {

MemoryStore::MemoryStore(std::shared_ptr<Table> table) noexcept : table_{std::move(table)} {
  PENSTOCK_CHECK(table_ != nullptr);
}

void MemoryStore::submit(const Batch& batch, Instant now, LateDecisions&) {
  TableTally tally;
  table_->decide(batch, now, scratch_, tally);
  metrics_.inserted.add(tally.inserted);
  metrics_.reused.add(tally.reused);
  metrics_.evicted.add(tally.evicted);
  metrics_.emptied.add(tally.emptied);
  metrics_.lock_waits.add(tally.lock_waits);
  metrics_.rebuilt.add(tally.read.rebuilt);
  metrics_.mistaken.add(tally.read.mistaken);
}

}  // namespace penstock::store
