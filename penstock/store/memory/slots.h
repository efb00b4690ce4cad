#pragma once

#include <cstdint>

#include "penstock/store/memory/note.h"
#include "penstock/store/memory/placement.h"
#include "penstock/store/record.h"

namespace penstock::store {

// Records in and out of the slots of a bucket. `slots` are those of one counter, as `matching` finds them.

[[nodiscard]] inline Record read(const HeldBucket& held, Slots slots) noexcept {
  const std::uint32_t slot = lowest(slots);
  Record record = note::unpack(held.bucket.notes[slot], held.base);
  record.state.word = held.bucket.words[slot];
  if (const Slots second = without_lowest(slots); second != 0) record.state.second = held.bucket.words[lowest(second)];
  return record;
}

// Whether the counter's slots are as many as the record takes.
[[nodiscard]] inline bool fits(Slots slots, const Record& record) noexcept {
  return (without_lowest(slots) != 0) == (slots_of_kind(record.kind) == 2);
}

// Requires: fits(slots, record), and the slots have the counter's tag.
inline void write(const HeldBucket& held, Slots slots, const Record& record) noexcept {
  const std::uint32_t slot = lowest(slots);
  held.bucket.words[slot] = record.state.word;
  held.bucket.notes[slot] = note::pack(record, held.base);
  if (const Slots second = without_lowest(slots); second != 0) {
    held.bucket.words[lowest(second)] = record.state.second;
    held.bucket.notes[lowest(second)] = 0;
  }
}

inline void set_tags(Bucket& bucket, Slots slots, Tag tag) noexcept {
  for (Slots left = slots; left != 0; left = without_lowest(left)) {
    bucket.tag_low[lowest(left)] = tag.low;
    bucket.tag_high[lowest(left)] = tag.high;
  }
}

}  // namespace penstock::store
