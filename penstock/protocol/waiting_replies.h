#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/base/check.h"

namespace penstock::protocol {

// Where the replies of requests that are being decided have to go: a ticket for each, at most `maximum` at once. A
// connection that goes away takes its replies with it, but not the tickets: what was asked is still decided and
// charged.
//
// A ticket is a slot's number and the number of its uses, so that one can never be taken for another.
// Threading: Loop-owned. Cost: O(1) and no allocation after warm-up; `forget` walks the slots once if any is in use.
template <class Connection>
class WaitingReplies {
 public:
  struct Place {
    Connection* connection = nullptr;  // null: nobody waits for the reply
    std::int32_t stream = 0;
    bool expired = false;  // the caller's deadline had passed when the request was read
  };

  explicit WaitingReplies(std::size_t maximum) : maximum_{maximum} {}

  // Nothing when `maximum` tickets are out.
  [[nodiscard]] std::optional<std::uint64_t> add(Place place) {
    if (free_.empty()) {
      if (slots_.size() == maximum_) return std::nullopt;
      free_.reserve(slots_.size() + 1);
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Slot& slot = slots_[index];
    slot.place = place;
    slot.used = true;
    return (std::uint64_t{slot.uses} << 32) | index;
  }

  // Requires: `ticket` came from `add` and was not taken yet.
  [[nodiscard]] Place take(std::uint64_t ticket) {
    const auto index = static_cast<std::uint32_t>(ticket);
    PENSTOCK_CHECK(index < slots_.size());
    Slot& slot = slots_[index];
    PENSTOCK_CHECK(slot.used && slot.uses == static_cast<std::uint32_t>(ticket >> 32));
    slot.used = false;
    ++slot.uses;
    free_.push_back(index);
    return slot.place;
  }

  void forget(const Connection& connection) noexcept {
    if (size() == 0) return;
    for (Slot& slot : slots_) {
      if (slot.place.connection == &connection) slot.place.connection = nullptr;
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return slots_.size() - free_.size(); }

 private:
  struct Slot {
    Place place;
    std::uint32_t uses = 0;
    bool used = false;
  };

  std::size_t maximum_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace penstock::protocol
