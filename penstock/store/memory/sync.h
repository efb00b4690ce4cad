#pragma once

#include <cstdint>

namespace penstock::store {

// Where what one thread does in the table can fall between what others do.
enum class SyncPoint : std::uint8_t { guessing, locking, finding, inserting, writing, unlocking };

// What the table does at its sync points: nothing, and no instruction is left of it. A test puts a policy of its own
// here that decides which thread goes on (table_schedule_test.cc).
struct NoSync {
  static void reach(SyncPoint, const void* /*bucket*/) noexcept {}
  static void wait_while_locked(const void* /*bucket*/) noexcept {}
};

}  // namespace penstock::store
