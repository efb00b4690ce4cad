#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/algorithm/decision.h"
#include "penstock/algorithm/limit.h"
#include "penstock/base/hash.h"
#include "penstock/base/instant.h"

namespace penstock::store {

// A refusal that will be repeated for a while.
struct Denial {
  std::uint64_t limit = 0;  // of whose refusal: see `limit_check`
  std::uint64_t cost = 0;   // refused, and so is what costs more
  Instant until;            // from then on the store is to be asked
  Instant fresh_at;         // as the store told it
  std::uint32_t remaining = 0;
};

// 64 bits that differ where limits do, and where the windows of a named window do.
[[nodiscard]] std::uint64_t limit_check(const algorithm::Limit& limit, std::int64_t window) noexcept;

// Refusals of a remote store by counter, for all loops of a node. Of fixed size; what finds no room takes the place of
// what ends first. A refusal that was asked for before the counter was cleared is not kept (`Reading`), so a refund
// does not race with a denial under way.
// Threading: Thread-safe; each bucket has a lock of its own. Cost: one cache line.
class DeniedTable {
 public:
  static constexpr std::size_t kBucketBytes = 256;

  // What a look-up saw of the counter's bucket, to be handed back with what the store then said.
  struct Reading {
    std::uint32_t version = 0;
  };

  explicit DeniedTable(std::size_t bytes);

  // The refusal that holds for the cost at `now`, if there is one.
  [[nodiscard]] std::optional<Denial> find(const Hash128& counter, std::uint64_t limit, std::uint64_t cost,
                                           Instant now) noexcept;
  [[nodiscard]] Reading read(const Hash128& counter) noexcept;
  // Keeps it, unless the bucket was cleared since the reading.
  void keep(const Hash128& counter, const Denial& denial, Instant now, Reading reading) noexcept;
  // Forgets all refusals of the counter, and those that are under way.
  void clear(const Hash128& counter) noexcept;
  void clear_all() noexcept;

  [[nodiscard]] std::size_t capacity() const noexcept { return buckets_.size() * kEntries; }

 private:
  struct Entry {
    Hash128 counter;
    Denial denial;
  };
  static constexpr std::size_t kEntries = 4;

  struct alignas(64) Bucket {
    std::atomic_flag locked;
    std::uint32_t version = 0;
    std::array<Entry, kEntries> entries;
  };

  class Held;
  [[nodiscard]] Bucket& bucket_of(const Hash128& counter) noexcept { return buckets_[counter.low % buckets_.size()]; }

  std::vector<Bucket> buckets_;
};

}  // namespace penstock::store
