#pragma once

#include <cstdint>
#include <span>

namespace penstock::algorithm {

// One instant of a sliding log at which cost was charged. Entries are in order of time, no two at one instant; the cost
// of one is the next one's `before` less its own.
struct LogEntry {
  std::uint32_t at_low = 0;  // nanoseconds since kStateEpoch, in two halves so that an entry takes twelve bytes
  std::uint32_t at_high = 0;
  std::uint32_t before = 0;  // all cost that was charged before, modulo 2^24
};

static_assert(sizeof(LogEntry) == 12);

// A ring: empty, or a power of two of places.
using LogPlaces = std::span<LogEntry>;

}  // namespace penstock::algorithm
