#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "penstock/store/record.h"

namespace penstock::store {

// What a bucket says of each slot beside the state, in 32 bits, from the top: 4 bits of the share used, 3 of the kind
// (0: the second word of the counter below), 8 that check the scale, 17 of a coarse instant from which on the counter
// is as good as fresh.
//
// A coarse instant is an exponent e of 3 bits and 14 bits of a count of ticks of 8^e seconds since kStateEpoch, from a
// second to three days; e = 7 is never. Of the count only the rest modulo 2^14 is kept: it is read as the first such
// tick from the bucket's *base* on, which is the start of the *unit* of 8,192 seconds in which the bucket was last
// visited. The bucket keeps 15 bits of that unit's number, its stamp. Whoever comes in a later unit first empties what
// is as good as fresh by then, and moves the stamp on (table_places.h); so every instant in a bucket lies at its base
// or later, and is never mistaken, but in a bucket that was left alone for four years. Rounded up, so that a counter
// never looks fresh early.

inline constexpr std::uint32_t kUnitShift = 13;
inline constexpr std::uint32_t kStampMask = 0x7fff;

[[nodiscard]] constexpr std::uint32_t unit_of(std::uint32_t second) noexcept { return second >> kUnitShift; }
[[nodiscard]] constexpr std::uint32_t base_of(std::uint32_t unit) noexcept { return unit << kUnitShift; }

[[nodiscard]] inline bool within_unit(Instant now, std::uint32_t unit) noexcept {
  constexpr std::uint64_t kLength = std::uint64_t{kNanosecondsPerSecond} << kUnitShift;
  constexpr auto kEpoch = static_cast<std::uint64_t>(kStateEpoch.time_since_epoch().count());
  // Modulo 2^64, in which no instant comes round to a unit that it does not lie in.
  return static_cast<std::uint64_t>(now.time_since_epoch().count()) - kEpoch - unit * kLength < kLength;
}

// The unit with that stamp that is nearest to `unit`: up to four years before or after it.
[[nodiscard]] constexpr std::uint32_t unit_of_stamp(std::uint32_t stamp, std::uint32_t unit) noexcept {
  constexpr std::uint32_t kHalf = (kStampMask + 1) / 2;
  const std::uint32_t from_half_before = (stamp - unit + kHalf) & kStampMask;
  return unit + from_half_before < kHalf ? unit + from_half_before + kHalf : unit + from_half_before - kHalf;
}

namespace note {

inline constexpr std::uint32_t kTickBits = 14;
inline constexpr std::uint32_t kTickMask = (1u << kTickBits) - 1;
inline constexpr std::uint32_t kInstantMask = (1u << 17) - 1;
inline constexpr std::uint32_t kNever = 7u << kTickBits;
inline constexpr int kScaleShift = 17;
inline constexpr int kKindShift = 25;
inline constexpr int kShareShift = 28;

// The coarse instant, 17 bits, of a second that lies at `base` or later; what is earlier becomes `base`.
[[nodiscard]] constexpr std::uint32_t pack_instant(std::uint32_t second, std::uint32_t base) noexcept {
  if (second - base <= kTickMask) [[likely]]
    return second & kTickMask;
  if (second == Record::kFarthestSecond) return kNever;
  const std::uint64_t at = std::max(second, base);
  if (at - base <= kTickMask) [[likely]]
    return static_cast<std::uint32_t>(at) & kTickMask;
  const auto count = [at](std::uint32_t exponent) { return (at + (1ull << 3 * exponent) - 1) >> 3 * exponent; };
  auto exponent = (static_cast<std::uint32_t>(std::bit_width((at - base) >> kTickBits)) + 2) / 3;
  // Rounding down the base and up the instant may add a tick to what fitted.
  if (count(exponent) - (base >> 3 * exponent) > kTickMask) [[unlikely]]
    ++exponent;
  if (exponent == 7) return kNever;
  return exponent << kTickBits | (static_cast<std::uint32_t>(count(exponent)) & kTickMask);
}

// Bits above the 17 have no meaning here.
[[nodiscard]] constexpr std::uint32_t unpack_instant(std::uint32_t bits, std::uint32_t base) noexcept {
  const std::uint32_t exponent = bits >> kTickBits & 7;
  if (exponent == 7) return Record::kFarthestSecond;
  const std::uint32_t first = base >> 3 * exponent;
  const std::uint64_t tick = first + (((bits & kTickMask) - first) & kTickMask);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(tick << 3 * exponent, Record::kFarthestSecond));
}

[[nodiscard]] constexpr std::uint32_t kind(std::uint32_t note) noexcept { return note >> kKindShift & 7; }
[[nodiscard]] constexpr std::uint32_t share(std::uint32_t note) noexcept { return note >> kShareShift; }

[[nodiscard]] constexpr std::uint32_t pack(const Record& record, std::uint32_t base) noexcept {
  return static_cast<std::uint32_t>(record.used_share) << kShareShift |
         static_cast<std::uint32_t>(record.kind) << kKindShift |
         static_cast<std::uint32_t>(record.scale_check) << kScaleShift | pack_instant(record.fresh_second, base);
}

// The note with another share and instant.
[[nodiscard]] constexpr std::uint32_t renewed(std::uint32_t note, std::uint32_t share, std::uint32_t instant) noexcept {
  constexpr std::uint32_t kKept = (1u << kShareShift) - (1u << kScaleShift);
  return share << kShareShift | (note & kKept) | instant;
}

// Kind and scale, as Limit::scale_check.
[[nodiscard]] constexpr std::uint32_t mark(std::uint32_t note) noexcept { return note >> kScaleShift & 0x7ff; }

// All of a record but its state.
[[nodiscard]] constexpr Record unpack(std::uint32_t note, std::uint32_t base) noexcept {
  return {.state = {},
          .fresh_second = unpack_instant(note, base),
          .kind = static_cast<std::uint8_t>(kind(note)),
          .used_share = static_cast<std::uint8_t>(share(note)),
          .scale_check = static_cast<std::uint8_t>(note >> kScaleShift)};
}

}  // namespace note

}  // namespace penstock::store
