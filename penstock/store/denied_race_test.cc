// Threads on one table of refusals.

#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/denied_table.h"

namespace penstock::store {
namespace {

constexpr Instant kNow = instant_from_unix_seconds(1'772'600'767);

// Each denial says the same thing twice; a torn one would not.
TEST(DeniedTableRace, DenialsAreReadWholeWhileOthersAreKeptAndCleared) {
  DeniedTable table{4 * DeniedTable::kBucketBytes};
  std::vector<std::jthread> threads;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&table, seed] {
      Random random{seed};
      for (int i = 0; i < 20'000; ++i) {
        const Hash128 counter = {.low = random.below(24), .high = 7};
        const std::uint64_t number = random.next() | 1;
        switch (random.below(3)) {
          case 0:
            table.keep(counter,
                       {.limit = 5,
                        .cost = 0,
                        .until = kNow + Nanoseconds{static_cast<std::int64_t>(number >> 32)},
                        .fresh_at = kNow + Nanoseconds{static_cast<std::int64_t>(number >> 32)}},
                       kNow, table.read(counter));
            break;
          case 1:
            if (const auto found = table.find(counter, 5, 0, kNow)) {
              EXPECT_EQ(found->until, found->fresh_at);
            }
            break;
          default: table.clear(counter); break;
        }
      }
    });
  }
}

// A refund clears what was asked for before it, whoever asked.
TEST(DeniedTableRace, WhatWasAskedForBeforeAClearIsNeverFoundAfterIt) {
  DeniedTable table{DeniedTable::kBucketBytes};
  const Hash128 counter = {.low = 1, .high = 1};
  std::jthread keeper{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const DeniedTable::Reading reading = table.read(counter);
      table.keep(counter, {.limit = 1, .cost = 1, .until = kNow + std::chrono::seconds{1}}, kNow, reading);
    }
  }};
  for (int i = 0; i < 10'000; ++i) {
    const DeniedTable::Reading before = table.read(counter);
    table.clear(counter);
    const Denial stale = {.limit = 2, .cost = 1, .until = kNow + std::chrono::seconds{1}};
    table.keep(counter, stale, kNow, before);
    ASSERT_FALSE(table.find(counter, 2, 1, kNow));
  }
}

}  // namespace
}  // namespace penstock::store
