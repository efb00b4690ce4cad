#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "penstock/algorithm/log_entry.h"
#include "penstock/base/error.h"
#include "penstock/base/mutex.h"
#include "penstock/base/thread_annotations.h"

namespace penstock::store {

// The name of a ring in its home, below 2^36: what a state keeps of it (algorithm/sliding_log.h).
using LogRing = std::uint64_t;

// Where the entries of sliding logs live: one region of a fixed size, shared out as rings of 8, 16, .. 65,536 places by
// a buddy allocator (Knowlton, "A fast storage allocator", CACM 1965): a block is halved until it fits, and grows
// together with its other half when both are free. So a ring that is given back serves rings of any size again, and
// what is lost is what rounding up to a power of two loses.
//
// Every ring knows the bucket of the table that holds its log. Who wants a ring when none is free goes round the rings
// (`next_ring`) and asks their buckets whether they can do without (log_keeper.h).
//
// Threading: Thread-safe. A mutex of its own guards who has which ring, held for tens of nanoseconds; nothing else is
// locked under it, so it may be taken under the locks of buckets. `places` takes no lock: a ring's entries belong to
// who holds its bucket. Cost: no allocation after construction, and memory that was never touched is not resident.
class LogHome {
 public:
  static constexpr std::size_t kMinPlaces = 8;
  static constexpr std::size_t kMaxPlaces = 65'536;
  static constexpr std::uint64_t kMaxBytes = 400'000'000'000;

  // `bytes` in all, 108 for 8 places; 0: a home that has no ring for anybody.
  // Errors: invalid_argument above kMaxBytes, resource_exhausted where the memory is not to be had.
  [[nodiscard]] static Result<std::unique_ptr<LogHome>> create(std::uint64_t bytes);

  // The places of a ring that is in use.
  [[nodiscard]] algorithm::LogPlaces places(LogRing ring) const noexcept {
    const std::size_t unit = ring & 0xffff'ffff;
    return {entries_.get() + unit * kMinPlaces, kMinPlaces << (ring >> 32)};
  }

  // A ring of at least `places` places for the bucket `owner`, or none where none is free. What stands in its places
  // has no meaning. Requires: 1 <= places <= kMaxPlaces.
  [[nodiscard]] std::optional<LogRing> acquire(std::size_t places, std::uint32_t owner) noexcept;

  // Requires: `ring` is in use.
  void release(LogRing ring) noexcept;

  struct Owned {
    LogRing ring;
    std::uint32_t owner;
  };
  // Moves a hand one block further round the region, and says whose ring stood there; none where the block was free.
  // By the time this returns the ring may have been given back, and taken by another.
  [[nodiscard]] std::optional<Owned> next_ring() noexcept;

  struct Usage {
    std::uint64_t rings = 0;
    std::uint64_t bytes = 0;  // of their places
  };
  [[nodiscard]] Usage in_use() const noexcept;

 private:
  static constexpr std::size_t kOrders = 14;  // 8 << 13 is kMaxPlaces
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  enum class Use : std::uint8_t { inside, free, ring };  // inside: not the first unit of its block

  // One for every unit of kMinPlaces places; only that of a block's first unit says anything.
  struct Block {
    std::uint32_t next_or_owner;  // free: the next of this order; ring: its bucket
    std::uint32_t previous;       // free: the one before, or kNone
    std::uint8_t order;           // of 8 << order places
    Use use;
  };

  struct Free {
    void operator()(void* memory) const noexcept;
  };

  LogHome(std::unique_ptr<algorithm::LogEntry[], Free> entries, std::unique_ptr<Block[], Free> blocks,
          std::uint32_t units) noexcept;

  [[nodiscard]] std::optional<std::uint32_t> take_free(std::uint8_t order) noexcept PENSTOCK_REQUIRES(mutex_);
  [[nodiscard]] bool break_ground(std::uint8_t order) noexcept PENSTOCK_REQUIRES(mutex_);
  void add_free(std::uint32_t unit, std::uint8_t order) noexcept PENSTOCK_REQUIRES(mutex_);
  void remove_free(std::uint32_t unit) noexcept PENSTOCK_REQUIRES(mutex_);
  [[nodiscard]] bool is_free(std::uint32_t unit, std::uint8_t order) const noexcept PENSTOCK_REQUIRES(mutex_);

  const std::unique_ptr<algorithm::LogEntry[], Free> entries_;
  const std::uint32_t units_;

  mutable Mutex mutex_;
  std::unique_ptr<Block[], Free> blocks_ PENSTOCK_GUARDED_BY(mutex_);
  std::array<std::uint32_t, kOrders> first_free_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint32_t ground_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // units from here on were never part of a block
  std::uint32_t hand_ PENSTOCK_GUARDED_BY(mutex_) = 0;    // first unit of a block, or `ground_`
  Usage usage_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::store
