// Threads that charge sliding logs of one table at once, with room and without. The home of the logs checks itself that
// no ring is given back twice.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/store/testing/conformance.h"

namespace penstock::store {
namespace {

using algorithm::Decision;
using algorithm::Limit;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::kStart;
using testing::sliding_log;

constexpr int kThreads = 4;
constexpr std::uint64_t kSmallRings = 108;  // bytes of a home for a ring of 8 places

Hash128 counter_number(std::uint64_t number) {
  Random random{number};
  return {.low = random.next(), .high = random.next()};
}

// One loop: a front of the table.
class Racer final : LateDecisions {
 public:
  explicit Racer(const std::shared_ptr<Table>& table) : store_{table} {}

  // True where all passed.
  bool decide(const std::vector<Charge>& charges, Instant now) {
    const Group group = {.charge_count = static_cast<std::uint32_t>(charges.size()), .mode = GroupMode::all_or_nothing};
    std::array<Decision, 4> decisions;
    store_.submit({.groups = {&group, 1}, .charges = charges, .decisions = std::span{decisions}.first(charges.size())},
                  now, *this);
    return decisions[0].charged;
  }
  [[nodiscard]] const MemoryStoreMetrics& metrics() const { return store_.metrics(); }

 private:
  void on_decided(const Ticket&, std::span<const Decision>) override { ADD_FAILURE() << "nothing is answered late"; }

  MemoryStore store_;
};

// What all threads did to the home together.
struct Totals {
  std::atomic<std::uint64_t> taken = 0, returned = 0, folded = 0, reclaimed = 0, inserted = 0;

  void add(const MemoryStoreMetrics& metrics) {
    taken += metrics.log_bytes_taken.value();
    returned += metrics.log_bytes_returned.value();
    folded += metrics.logs_folded.value();
    reclaimed += metrics.logs_reclaimed.value();
    inserted += metrics.inserted.value();
  }
  [[nodiscard]] std::uint64_t bytes() const { return taken - returned; }
};

// Runs `work(racer, thread)` on all threads at once.
template <class Work>
void race(const TableOptions& options, Totals& totals, Work work) {
  const std::shared_ptr<Table> table = Table::create(options).value();
  std::latch start{kThreads};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Racer racer{table};
      start.arrive_and_wait();
      work(racer, thread);
      totals.add(racer.metrics());
    });
  }
}

TEST(MemoryLogsRace, ThreadsThatRaceForOneLogGetExactlyItsAmount) {
  constexpr std::uint32_t kAmount = 3000;
  const Limit limit = sliding_log(kAmount, 60);
  for (const std::uint64_t log_bytes : {std::uint64_t{64} * 1024 * 1024, 4 * kSmallRings, std::uint64_t{0}}) {
    std::atomic<std::uint32_t> admitted = 0;
    Totals totals;
    race({.capacity_keys = 100, .log_bytes = log_bytes}, totals, [&](Racer& racer, int) {
      for (std::uint32_t i = 0; i < kAmount; ++i) {
        const Charge one = {.counter = counter_number(1), .limit = &limit, .cost = 1};
        admitted += racer.decide({one}, kStart + microseconds{i});
      }
    });
    EXPECT_EQ(admitted, kAmount) << log_bytes;
    EXPECT_LE(totals.bytes(), log_bytes);
  }
}

TEST(MemoryLogsRace, LogsThatCompeteForRoomNeverAdmitMoreThanTheirAmount) {
  constexpr std::size_t kLogs = 200;
  constexpr std::uint32_t kAmount = 20;
  const Limit limit = sliding_log(kAmount, 60);
  std::vector<std::atomic<std::uint32_t>> admitted(kLogs);
  Totals totals;
  race({.capacity_keys = 10'000, .log_bytes = 100 * kSmallRings}, totals, [&](Racer& racer, int thread) {
    Random random{static_cast<std::uint64_t>(thread)};
    for (int i = 0; i < 4000; ++i) {
      const std::size_t a = random.below(kLogs), b = random.below(kLogs);
      const Charge first = {.counter = counter_number(a), .limit = &limit, .cost = 1};
      const Charge second = {.counter = counter_number(b), .limit = &limit, .cost = 1};
      const Instant now = kStart + milliseconds{i};
      if (i % 2 == 0) {
        admitted[a] += racer.decide({first}, now);
      } else if (racer.decide({first, second}, now)) {
        ++admitted[a];
        ++admitted[b];
      }
    }
  });
  for (const auto& count : admitted) EXPECT_LE(count, kAmount);
  EXPECT_GT(totals.folded, 0u);
  EXPECT_LE(totals.bytes(), 100 * kSmallRings);
}

TEST(MemoryLogsRace, RingsComeBackFromLogsThatAreFreshOrPushedOut) {
  constexpr std::uint64_t kLogs = 500;
  constexpr std::uint32_t kAmount = 20;
  const Limit limit = sliding_log(kAmount, 1);
  for (const std::uint64_t keys : {100u, 10'000u}) {
    std::atomic<std::uint64_t> admitted = 0;
    Totals totals;
    race({.capacity_keys = keys, .log_bytes = 150 * kSmallRings}, totals, [&](Racer& racer, int thread) {
      Random random{static_cast<std::uint64_t>(thread)};
      for (int i = 0; i < 5000; ++i) {
        // Each log is busy for a while, then another one.
        const std::uint64_t log = (random.below(40) + static_cast<std::uint64_t>(i / 10)) % kLogs;
        const Charge one = {.counter = counter_number(log), .limit = &limit, .cost = 1};
        const Charge next = {.counter = counter_number(log + 1), .limit = &limit, .cost = 1};
        const Instant now = kStart + milliseconds{2 * i};
        const bool pair = random.below(4) == 0;
        admitted += pair ? 2 * racer.decide({one, next}, now) : racer.decide({one}, now);
      }
    });
    EXPECT_GT(admitted, 0u);
    EXPECT_GT(totals.taken, 0u);
    EXPECT_LE(totals.bytes(), 150 * kSmallRings);
    if (keys > 100) {
      EXPECT_GT(totals.reclaimed, 0u);
    }
  }
}

}  // namespace
}  // namespace penstock::store
