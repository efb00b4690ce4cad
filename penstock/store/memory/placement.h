#pragma once

#include <cstdint>

#include "penstock/store/memory/bucket.h"

namespace penstock::store {

// How many slots a counter of that kind takes: two for sliding_window, sliding_log and a bucket with a peak.
[[nodiscard]] constexpr std::uint32_t slots_of_kind(std::uint32_t kind) noexcept {
  return 1 + (0b1001'1000u >> kind & 1);
}

// A bucket of which this thread has the lock, and the base of its coarse instants (note.h).
struct HeldBucket {
  Bucket& bucket;
  std::uint32_t base;
};

// All slots of the counter with that first one.
[[nodiscard]] Slots slots_of_counter(const Bucket& bucket, std::uint32_t slot) noexcept;

// The first slots of all counters.
[[nodiscard]] Slots first_slots(const Bucket& bucket) noexcept;

// Some counters of a bucket, with the slots that they take.
struct Counters {
  Slots slots = 0;
  std::uint32_t count = 0;
};

// Those that are as good as fresh at that second.
[[nodiscard]] Counters expired_counters(const HeldBucket& held, std::uint32_t now_second) noexcept;

// Who is to go when a counter of `wanted` slots comes into a bucket that has no room for it: the counter with the least
// share of its limit used, and among equals the nearest to fresh; where that is not enough the next one as well. So a
// flood of new counters pushes out its own kind before it reaches one that is over its limit.
struct Victims {
  Counters counters;
  std::uint64_t worth = 0;  // of the worthiest among them
};
// Requires: 1 or 2 slots are wanted, and the bucket has fewer free ones.
[[nodiscard]] Victims choose_victims(const HeldBucket& held, std::uint32_t wanted) noexcept;

}  // namespace penstock::store
