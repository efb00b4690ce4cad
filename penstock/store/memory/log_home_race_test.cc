// Threads that take rings, write to them, pass them on and give them back. Small enough for the thread sanitizer.

#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/memory/log_home.h"

namespace penstock::store {
namespace {

constexpr int kThreads = 4;

// Takes and gives back at random, and writes its own number over all places of what it holds.
void take_turns(LogHome& home, std::uint32_t thread, std::uint64_t& disturbed) {
  Random random{thread};
  std::vector<LogRing> held;
  for (int step = 0; step < 4000; ++step) {
    (void)home.next_ring();
    if (held.empty() || random.below(2) == 0) {
      const auto ring = home.acquire(1 + random.below(40), thread);
      if (!ring) continue;
      for (algorithm::LogEntry& place : home.places(*ring)) place.before = thread;
      held.push_back(*ring);
      continue;
    }
    const std::size_t at = random.below(held.size());
    for (const algorithm::LogEntry& place : home.places(held[at])) disturbed += place.before != thread;
    home.release(held[at]);
    held[at] = held.back();
    held.pop_back();
  }
  for (const LogRing ring : held) home.release(ring);
}

TEST(LogHomeRace, NobodyWritesToTheRingOfAnother) {
  const auto home = LogHome::create(100'000).value();
  std::vector<std::uint64_t> disturbed(kThreads);
  {
    std::latch start{kThreads};
    std::vector<std::jthread> threads;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        start.arrive_and_wait();
        take_turns(*home, thread, disturbed[thread]);
      });
    }
  }
  for (const std::uint64_t count : disturbed) EXPECT_EQ(count, 0u);
  EXPECT_EQ(home->in_use().rings, 0u);
  EXPECT_EQ(home->in_use().bytes, 0u);
}

}  // namespace
}  // namespace penstock::store
