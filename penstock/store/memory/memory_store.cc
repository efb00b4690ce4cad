#include "penstock/store/memory/memory_store.h"

#include <utility>

#include "penstock/base/check.h"

namespace penstock::store {

MemoryStore::MemoryStore(std::shared_ptr<Table> table) noexcept : table_{std::move(table)} {
  PENSTOCK_CHECK(table_ != nullptr);
}

void MemoryStore::submit(const Batch& batch, Instant now, LateDecisions&) {
  table_->decide(batch, now, scratch_, metrics_);
}

}  // namespace penstock::store
