#pragma once

#include <algorithm>
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
  static constexpr std::uint8_t kNothingRemains = 15;
  static constexpr std::uint32_t kFarthestSecond = 0xffff'ffff;  // in the year 2161; what is later is held here

  algorithm::State state;
  std::uint32_t fresh_second = 0;  // from then on as good as fresh; whole seconds since kStateEpoch, rounded up
  std::uint8_t kind = 0;           // 0 nothing kept, else Limit::state_kind of the limit that wrote the state
  std::uint8_t used_share = 0;     // of the limit when last charged, 1 to kNothingRemains
  std::uint8_t scale_check = 0;    // of that limit: the lower 8 bits of Limit::scale_check

  [[nodiscard]] bool empty() const noexcept { return kind == 0; }

  friend bool operator==(const Record&, const Record&) = default;
};

static_assert(sizeof(Record) == 24 && std::is_trivially_copyable_v<Record>);

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

// The second from which on the counter is as good as fresh, rounded up, as the decision at `now` has it.
[[nodiscard]] inline std::uint32_t fresh_second(const algorithm::Decision& decision, Instant now) noexcept {
  const auto elapsed = static_cast<std::uint64_t>(since_state_epoch(now).count());
  const auto wait = static_cast<std::uint64_t>(decision.reset_after.count());
  constexpr std::uint64_t kSecond = kNanosecondsPerSecond;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>((elapsed + wait + kSecond - 1) / kSecond, Record::kFarthestSecond));
}

// What part of a capacity is used where so much remains, 1 to kNothingRemains.
[[nodiscard]] inline std::uint32_t share_of(std::uint32_t capacity, std::uint32_t remaining) noexcept {
  if (remaining == 0) return Record::kNothingRemains;
  return static_cast<std::uint32_t>(1 + std::uint64_t{capacity - remaining} * 14 / capacity);
}

// What is to be kept after a step: empty where the counter is as good as fresh. The state is the step's, the decision
// says the rest.
[[nodiscard]] Record record_after(const algorithm::Limit& limit, const algorithm::Step& step, Instant now) noexcept;

// Applies one charge to a counter's record at `now`. The record becomes what is to be kept: it changes where the
// decision says `charged`, becomes empty where that (a refund) made the counter as good as fresh, and changes without a
// charge only in its writing: rebuilt for another scale, or brought back from a clock that had run away. After a look
// the store leaves it alone. Where windows are spread the state's time is the counter's own (Limit::window_offset); all
// else, `fresh_second` too, is in terms of `now`. Threading: any. Cost: tens of nanoseconds, no allocation.
// `places`: of a sliding log, the ring that the record's state names, with a free place (algorithm/sliding_log.h).
[[nodiscard]] algorithm::Decision apply_charge(Record& record, const Charge& charge, algorithm::Verb verb, Instant now,
                                               ReadTally& tally, algorithm::LogPlaces places = {}) noexcept;

}  // namespace penstock::store
