#include "penstock/store/memory/placement.h"

#include <tuple>

namespace penstock::store {
namespace {

struct Survey {
  Slot* expired_slot = nullptr;
  Slot* unused_slot = nullptr;
  Slot* least = nullptr;  // what to evict
  int used = 0;
};

bool less_worth(const Slot& a, const Slot& b) {
  return std::tie(a.record.used_share, a.record.fresh_second) < std::tie(b.record.used_share, b.record.fresh_second);
}

Survey survey(Bucket& bucket, std::uint32_t now_second) {
  Survey found;
  for (Slot& slot : bucket.slots) {
    if (slot.record.empty()) {
      found.unused_slot = &slot;
      continue;
    }
    ++found.used;
    if (expired(slot.record, now_second)) found.expired_slot = &slot;
    if (found.least == nullptr || less_worth(slot, *found.least)) found.least = &slot;
  }
  return found;
}

}  // namespace

Place choose_place(Bucket& first, Bucket& second, std::uint32_t now_second) noexcept {
  Survey a = survey(first, now_second);
  Survey b = survey(second, now_second);
  if (a.expired_slot != nullptr) return {.slot = a.expired_slot, .placement = Placement::expired_place};
  if (b.expired_slot != nullptr) return {.slot = b.expired_slot, .placement = Placement::expired_place};
  const Survey& emptier = a.used <= b.used ? a : b;
  if (emptier.unused_slot != nullptr) return {.slot = emptier.unused_slot, .placement = Placement::unused_place};
  return {.slot = less_worth(*b.least, *a.least) ? b.least : a.least, .placement = Placement::evicted};
}

}  // namespace penstock::store
