#pragma once

#include <cstdint>

#include "penstock/store/memory/bucket.h"

namespace penstock::store {

enum class Placement : std::uint8_t { unused_place, expired_place, evicted };

struct Place {
  Slot* slot;
  Placement placement;
};

// The slot that a new counter takes in its two candidate buckets (which may be one): a place whose counter is as good
// as fresh, else a free one in the emptier bucket, else that of the counter with the least share of its limit used, and
// among equals the nearest to fresh. So a flood of new counters pushes out its own kind before it reaches one that is
// over its limit. Never fails.
// Requires: both buckets are locked by this thread.
[[nodiscard]] Place choose_place(Bucket& first, Bucket& second, std::uint32_t now_second) noexcept;

}  // namespace penstock::store
