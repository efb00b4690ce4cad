#include "penstock/store/memory/log_home.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "penstock/base/check.h"

namespace penstock::store {
namespace {

constexpr std::size_t kUnitBytes = LogHome::kMinPlaces * sizeof(algorithm::LogEntry);

constexpr std::uint32_t size_of(std::uint8_t order) { return std::uint32_t{1} << order; }

std::uint8_t order_of(std::size_t places) {
  const std::size_t units = (places + LogHome::kMinPlaces - 1) / LogHome::kMinPlaces;
  return static_cast<std::uint8_t>(std::bit_width(std::bit_ceil(units)) - 1);
}

}  // namespace

void LogHome::Free::operator()(void* memory) const noexcept { std::free(memory); }

Result<std::unique_ptr<LogHome>> LogHome::create(std::uint64_t bytes) {
  static_assert(kMaxBytes / (kUnitBytes + sizeof(Block)) < kNone);
  static_assert(kMinPlaces << (kOrders - 1) == kMaxPlaces);
  if (bytes > kMaxBytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes for sliding logs are out of range: 0 to {}", bytes, kMaxBytes));
  }
  const std::uint64_t units = bytes / (kUnitBytes + sizeof(Block));
  // Zero pages straight from the system; a block of use `inside` is all zero.
  std::unique_ptr<algorithm::LogEntry[], Free> entries{
      static_cast<algorithm::LogEntry*>(std::calloc(units + 1, kUnitBytes))};
  std::unique_ptr<Block[], Free> blocks{static_cast<Block*>(std::calloc(units + 1, sizeof(Block)))};
  if (!entries || !blocks) {
    return fail(ErrorCode::resource_exhausted,
                fmt::format("sliding logs were to have {} bytes, which are not free", bytes));
  }
  return std::unique_ptr<LogHome>{
      new LogHome{std::move(entries), std::move(blocks), static_cast<std::uint32_t>(units)}};
}

LogHome::LogHome(std::unique_ptr<algorithm::LogEntry[], Free> entries, std::unique_ptr<Block[], Free> blocks,
                 std::uint32_t units) noexcept
    : entries_{std::move(entries)}, units_{units}, blocks_{std::move(blocks)} {
  first_free_.fill(kNone);
}

std::optional<LogRing> LogHome::acquire(std::size_t places, std::uint32_t owner) noexcept {
  PENSTOCK_CHECK(places >= 1 && places <= kMaxPlaces);
  const std::uint8_t order = order_of(places);
  const MutexLock lock{mutex_};
  const std::optional<std::uint32_t> unit = take_free(order);
  if (!unit) return std::nullopt;
  blocks_[*unit] = {.next_or_owner = owner, .previous = kNone, .order = order, .use = Use::ring};
  ++usage_.rings;
  usage_.bytes += std::uint64_t{kUnitBytes} << order;
  return std::uint64_t{order} << 32 | *unit;
}

void LogHome::release(LogRing ring) noexcept {
  auto unit = static_cast<std::uint32_t>(ring);
  auto order = static_cast<std::uint8_t>(ring >> 32);
  const MutexLock lock{mutex_};
  PENSTOCK_CHECK(unit < ground_ && blocks_[unit].use == Use::ring && blocks_[unit].order == order);
  --usage_.rings;
  usage_.bytes -= std::uint64_t{kUnitBytes} << order;
  for (; order + 1u < kOrders; ++order) {
    const std::uint32_t other = unit ^ size_of(order);
    if (!is_free(other, order)) break;
    remove_free(other);
    blocks_[std::max(unit, other)].use = Use::inside;
    unit = std::min(unit, other);
  }
  add_free(unit, order);
  if (hand_ > unit && hand_ < unit + size_of(order)) hand_ = unit;
}

std::optional<LogHome::Owned> LogHome::next_ring() noexcept {
  const MutexLock lock{mutex_};
  if (hand_ >= ground_) hand_ = 0;
  if (ground_ == 0) return std::nullopt;
  const std::uint32_t unit = hand_;
  const Block& block = blocks_[unit];
  hand_ += size_of(block.order);
  if (block.use != Use::ring) return std::nullopt;
  return Owned{.ring = std::uint64_t{block.order} << 32 | unit, .owner = block.next_or_owner};
}

LogHome::Usage LogHome::in_use() const noexcept {
  const MutexLock lock{mutex_};
  return usage_;
}

// The first unit of a block of that order, halved out of the least one that is free.
std::optional<std::uint32_t> LogHome::take_free(std::uint8_t order) noexcept {
  std::uint8_t from = order;
  while (from < kOrders && first_free_[from] == kNone) ++from;
  if (from == kOrders) {
    if (!break_ground(order)) return std::nullopt;
    for (from = order; first_free_[from] == kNone;) ++from;
  }
  const std::uint32_t unit = first_free_[from];
  remove_free(unit);
  while (from > order) {
    --from;
    add_free(unit + size_of(from), from);
  }
  return unit;
}

// Makes a free block out of what was never used: the largest that fits, so that it lies as a half of a larger one
// would. Blocks only become smaller towards the end, so where the next is too small all are.
bool LogHome::break_ground(std::uint8_t order) noexcept {
  std::uint8_t largest = kOrders - 1;
  while (largest > order && size_of(largest) > units_ - ground_) --largest;
  if (size_of(largest) > units_ - ground_) return false;
  add_free(ground_, largest);
  ground_ += size_of(largest);
  return true;
}

void LogHome::add_free(std::uint32_t unit, std::uint8_t order) noexcept {
  const std::uint32_t next = first_free_[order];
  blocks_[unit] = {.next_or_owner = next, .previous = kNone, .order = order, .use = Use::free};
  if (next != kNone) blocks_[next].previous = unit;
  first_free_[order] = unit;
}

void LogHome::remove_free(std::uint32_t unit) noexcept {
  const Block& block = blocks_[unit];
  if (block.next_or_owner != kNone) blocks_[block.next_or_owner].previous = block.previous;
  if (block.previous != kNone) {
    blocks_[block.previous].next_or_owner = block.next_or_owner;
  } else {
    first_free_[block.order] = block.next_or_owner;
  }
}

bool LogHome::is_free(std::uint32_t unit, std::uint8_t order) const noexcept {
  return unit < ground_ && blocks_[unit].use == Use::free && blocks_[unit].order == order;
}

}  // namespace penstock::store
