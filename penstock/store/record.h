#pragma once

#include <cstdint>
#include <type_traits>

#include "penstock/algorithm/algorithm.h"
#include "penstock/base/instant.h"
#include "penstock/store/store.h"

namespace penstock::store {

// What a store keeps of one counter beside its identity: the state, and what it takes to reuse the place, to choose
// whom to push out, and to read the state under a limit that has changed, all without knowing the limit it was written
// under. All zero: nothing is kept, the counter is fresh.
// Threading: Value.
struct Record {
  static constexpr std::uint32_t kFarthestSecond = 0xffff'ffff;  // in the year 2161; what is later is held here

  algorithm::State state;
  std::uint32_t fresh_second = 0;  // from then on as good as fresh; whole seconds since kStateEpoch, rounded up
  std::uint8_t kind = 0;           // 0 nothing kept, else the algorithm + 1
  std::uint8_t used_share = 0;     // of the limit when last charged: 0 fresh to 255 nothing remains
  std::uint16_t scale_check = 0;   // Limit::scale_check of the limit that wrote the state

  [[nodiscard]] bool empty() const noexcept { return kind == 0; }

  friend bool operator==(const Record&, const Record&) = default;
};

static_assert(sizeof(Record) == 16 && std::is_trivially_copyable_v<Record>);

// Whole seconds from kStateEpoch to `now`, rounded down: what `Record::fresh_second` is compared with.
[[nodiscard]] std::uint32_t coarse_second(Instant now) noexcept;

// Whether a record's place may be given to another counter. What lies beyond the range of seconds never expires.
[[nodiscard]] inline bool expired(const Record& record, std::uint32_t now_second) noexcept {
  return record.fresh_second <= now_second && record.fresh_second != Record::kFarthestSecond;
}

// What happened to records while they were read; a store adds it to its metrics.
struct ReadTally {
  std::uint64_t rebuilt = 0;   // written under another scale
  std::uint64_t mistaken = 0;  // of another algorithm: two identities with one hash, or a foreign state; read as fresh
};

// Applies one charge to a counter's record at `now`. The record becomes what is to be kept: it changes where the
// decision says `charged`, becomes empty where that (a refund) made the counter as good as fresh, and changes without a
// charge only in its writing: rebuilt for another scale, or brought back from a clock that had run away. After a look
// the store leaves it alone. Threading: any. Cost: tens of nanoseconds, no allocation.
[[nodiscard]] algorithm::Decision apply_charge(Record& record, const Charge& charge, algorithm::Verb verb, Instant now,
                                               ReadTally& tally) noexcept;

}  // namespace penstock::store
