#include "penstock/store/memory/table.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "penstock/store/memory/bucket.h"
#include "penstock/store/memory/table_core.h"

namespace penstock::store {
namespace {

// 5.33 of seven slots, so that both buckets of a newcomer are seldom full (bench/README.md).
constexpr std::uint64_t kKeysOfThreeBuckets = 16;
static_assert(3 * sizeof(Bucket) == kKeysOfThreeBuckets * Table::kBytesAKey);

std::uint64_t buckets_for_keys(std::uint64_t keys) {
  return (keys * 3 + kKeysOfThreeBuckets - 1) / kKeysOfThreeBuckets;
}

Result<std::uint64_t> bucket_count(const TableOptions& options) {
  if (options.capacity_bytes) {
    const std::uint64_t bytes = *options.capacity_bytes;
    if (bytes >= Table::kMinCapacityBytes && bytes <= Table::kMaxCapacityBytes) return bytes / sizeof(Bucket);
    return fail(ErrorCode::invalid_argument, fmt::format("a capacity of {} bytes is out of range: {} to {}", bytes,
                                                         Table::kMinCapacityBytes, Table::kMaxCapacityBytes));
  }
  const std::uint64_t keys = options.capacity_keys;
  if (keys >= Table::kMinCapacityKeys && keys <= Table::kMaxCapacityKeys) return buckets_for_keys(keys);
  return fail(ErrorCode::invalid_argument, fmt::format("a capacity of {} counters is out of range: {} to {}", keys,
                                                       Table::kMinCapacityKeys, Table::kMaxCapacityKeys));
}

}  // namespace

Result<std::unique_ptr<Table>> Table::create(const TableOptions& options) {
  static_assert(kMaxCapacityBytes / sizeof(Bucket) < 0xffff'ffff);
  const auto count = bucket_count(options);
  if (!count) return std::unexpected{count.error()};
  auto memory = TableMemory::map(*count * sizeof(Bucket));
  if (!memory) {
    return fail(memory.error().code, fmt::format("a table for {} counters: {}", *count * sizeof(Bucket) / kBytesAKey,
                                                 memory.error().message));
  }
  auto logs = LogHome::create(options.log_bytes);
  if (!logs) return std::unexpected{logs.error()};
  return std::unique_ptr<Table>{new Table{std::move(*memory), *count, std::move(*logs)}};
}

Table::Table(TableMemory memory, std::uint64_t bucket_count, std::unique_ptr<LogHome> logs) noexcept
    : memory_{std::move(memory)},
      bucket_count_{bucket_count},
      logs_{std::move(logs)},
      core_{
          std::make_unique<TableCore<NoSync>>(std::span{static_cast<Bucket*>(memory_.data()), bucket_count}, *logs_)} {}

Table::~Table() = default;

void Table::decide(const Batch& batch, Instant now, TableScratch& scratch, MemoryStoreMetrics& metrics) noexcept {
  core_->decide(batch, now, scratch, metrics);
}

std::uint64_t Table::live_counters(Instant now) const noexcept {
  const std::uint64_t sample = std::min<std::uint64_t>(bucket_count_, 1024);
  const Census census = core_->count(0, static_cast<std::uint32_t>(sample), now);
  return census.live * bucket_count_ / sample;
}

std::uint64_t Table::memory_bytes() const noexcept { return bucket_count_ * sizeof(Bucket); }

}  // namespace penstock::store
