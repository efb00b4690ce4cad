#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "penstock/algorithm/algorithm.h"

// What whoever keeps sliding logs needs to know of them. The entries of a log stand in a ring of places that its keeper
// provides; the state holds where in it:
//
//   word    17 bits sum of the costs that count; 17 bits number of entries; 16 bits first place; 1 bit: has a ring
//   second  with a ring: 40 bits the keeper's name of it, 24 bits all cost before the first entry, modulo 2^24;
//           without: the only entry's time, nanoseconds since kStateEpoch
//
// Entries never change what they say but where make_room folds, and a step writes at most one, behind the last: charges
// at one instant, or while the clock is behind the newest entry, only raise the sum; what is dropped, refunded or has
// to make place for a refused cost that counts only changes the state. So a step that is not kept leaves the log of the
// state before it as it was, and so do several at one instant, as long as there was a free place.
//
// While the clock is behind the newest entry by a window at most, that entry's instant stands for now, so a step back
// stalls for as long as it was. By more than that the clock had run away: all that counts is taken as charged now.
//
// A log without a ring has one entry: each charge moves the whole sum to its own instant. That refuses too much rather
// than too little, as folding does, so a keeper that runs out of room never over-admits.
//
// A log keeps its entries when the amount or the window changes; they only count differently, but what no longer
// counted before may be gone. All logs have one scale.

namespace penstock::algorithm {

inline constexpr std::uint32_t kMaxLogAmount = 65'536;  // places of the largest ring that a log can need

// How many bits of a state hold what.
namespace log_bits {
inline constexpr int kSum = 17;
inline constexpr int kSize = 17;
inline constexpr int kFirst = 16;
inline constexpr int kRing = 40;

[[nodiscard]] constexpr std::uint64_t lowest(std::uint64_t value, int bits) noexcept {
  return value & ((std::uint64_t{1} << bits) - 1);
}
}  // namespace log_bits

inline constexpr std::uint64_t kMaxLogRing = (std::uint64_t{1} << log_bits::kRing) - 1;

// The name of the state's ring, if it has one.
[[nodiscard]] inline std::optional<std::uint64_t> log_ring(const State& state) noexcept {
  const bool has_ring = (state.word >> (log_bits::kSum + log_bits::kSize + log_bits::kFirst) & 1) != 0;
  return has_ring ? std::optional{log_bits::lowest(state.second, log_bits::kRing)} : std::nullopt;
}

// How many entries the state holds, those included that no longer count.
[[nodiscard]] inline std::size_t log_size(const State& state) noexcept {
  return log_bits::lowest(state.word >> log_bits::kSum, log_bits::kSize);
}

// How many places the log should have for a charge at `now` to be kept as it is; 0 where it has what it needs. Where
// that is no more than `places`, `make_room` does it; where it is more, a larger ring.
// Cost: a comparison where a place is free, else logarithmic.
[[nodiscard]] std::size_t log_places_wanted(const Limit& limit, const State& state, Instant now,
                                            LogPlaces places) noexcept;

// The log with a free place, which is not a charge but a change of its writing, to be kept at once: drops what no
// longer counts at `now`, and where that is nothing folds: entries are taken over by later ones less than 4 W / places
// away, W being the window, so that charges count for longer by less than that; in rings of fewer than 8 places the
// oldest entry is taken over by the next. Requires: a ring.
// Cost: linear where it folds, which frees nearly half of a large ring.
[[nodiscard]] State make_room(const Limit& limit, const State& state, Instant now, LogPlaces places) noexcept;

// The ring `to` with its name.
struct LogRingPlaces {
  std::uint64_t ring = 0;  // up to kMaxLogRing
  LogPlaces places;
};

// The log after its entries moved to the ring `to`; where that is too small, the oldest are taken over by the first
// that fits. Linear.
[[nodiscard]] State move_log(const State& state, LogPlaces from, const LogRingPlaces& to) noexcept;

}  // namespace penstock::algorithm
