#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "penstock/store/record.h"
#include "penstock/store/store.h"

namespace penstock::store {

// The distinct counters of one group, on which the group is decided apart from any store: a store fills in the records
// that it holds, `decide_group` leaves what is to be kept, and the store writes back what changed.
// Threading: Value. Cost: 5.1 KiB that a store keeps for reuse; only the counters of the group at hand are touched.
struct GroupSheet {
  struct Line {
    Hash128 counter;
    Record before;
    Record record;
    std::uint32_t charge = 0;          // the first on this counter
    algorithm::LogPlaces places = {};  // of a sliding log: those of `before`, with one that is free
  };

  // Lists the distinct counters of `charges`, to be given their `before` by the store.
  // Requires: at most Group::kMaxCharges charges.
  void list_counters(std::span<const Charge> charges) noexcept;

  [[nodiscard]] std::span<Line> lines() noexcept { return std::span{line}.first(count); }

  std::uint32_t count = 0;
  std::array<Line, Group::kMaxCharges> line;
  std::array<std::uint8_t, Group::kMaxCharges> line_of = {};  // charge -> line
  std::array<bool, Group::kMaxCharges> refused = {};          // charge -> refused while the group was tried
};

// Whether the group's charges may be decided one by one, each atomic by itself: mode `each`, verbs that are never
// refused or never write, and groups that cannot be refused in part.
[[nodiscard]] bool decided_singly(const Group& group, std::span<const Charge> charges) noexcept;

// Decides a group as store.h describes its mode. Where the modes leave room:
//   - Observers are decided after all others, so that they cannot veto through a counter that they share. In mode
//     `each` every charge stands alone and the flag has no meaning.
//   - A look has no effect, so the looks of a group do not see each other.
//   - Where the group is refused, each charge is reported as the ones before it left its counter: that is the unchanged
//     one, but for refused cost that was counted.
//   - A charge that is refused only because of an earlier charge of the group on its counter is reported as refused,
//     with the wait after which both fit, and `never` where they cannot.
//   - In mode `refused_alone` charges are made in order, so that one which passed alone may be refused by an earlier
//   one
//     on its counter.
// Requires: not decided_singly; `sheet` lists the counters of `charges`, with what is kept of them.
// Threading: any. Cost: one step of the algorithm per charge, two where the group is refused; no allocation.
void decide_group(const Group& group, std::span<const Charge> charges, GroupSheet& sheet,
                  std::span<algorithm::Decision> decisions, Instant now, ReadTally& tally) noexcept;

}  // namespace penstock::store
