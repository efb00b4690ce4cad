#include "penstock/store/memory/placement.h"

#include "penstock/store/memory/note.h"

namespace penstock::store {
namespace {

std::uint64_t worth(const HeldBucket& held, std::uint32_t slot) {
  const std::uint32_t bits = held.bucket.notes[slot];
  return std::uint64_t{note::share(bits)} << 32 | note::unpack_instant(bits, held.base);
}

}  // namespace

Slots slots_of_counter(const Bucket& bucket, std::uint32_t slot) noexcept {
  const Slots same_tag = matching(bucket, tag_in(bucket, slot));
  return same_tag & ~((1u << slot) - 1);
}

Slots first_slots(const Bucket& bucket) noexcept {
  Slots firsts = 0;
  for (Slots used = kAllSlots & ~empty_slots(bucket); used != 0; used = without_lowest(used)) {
    const std::uint32_t slot = lowest(used);
    firsts |= Slots{note::kind(bucket.notes[slot]) != 0} << slot;
  }
  return firsts;
}

Counters expired_counters(const HeldBucket& held, std::uint32_t now_second) noexcept {
  Counters expired;
  for (Slots firsts = first_slots(held.bucket); firsts != 0; firsts = without_lowest(firsts)) {
    const std::uint32_t slot = lowest(firsts);
    const std::uint32_t fresh = note::unpack_instant(held.bucket.notes[slot], held.base);
    if (fresh > now_second || fresh == Record::kFarthestSecond) continue;
    expired.slots |= slots_of_counter(held.bucket, slot);
    ++expired.count;
  }
  return expired;
}

Victims choose_victims(const HeldBucket& held, std::uint32_t wanted) noexcept {
  Victims victims;
  const std::uint32_t free = number_of(empty_slots(held.bucket));
  Slots left = first_slots(held.bucket);
  while (free + number_of(victims.counters.slots) < wanted) {
    std::uint32_t least = lowest(left);
    for (Slots others = without_lowest(left); others != 0; others = without_lowest(others)) {
      if (worth(held, lowest(others)) < worth(held, least)) least = lowest(others);
    }
    left &= ~(1u << least);
    victims.counters.slots |= slots_of_counter(held.bucket, least);
    victims.worth = worth(held, least);
    ++victims.counters.count;
  }
  return victims;
}

}  // namespace penstock::store
