// Threads that decide on one table at once. The work is bounded, and small enough for the thread sanitizer.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/store/testing/conformance.h"

namespace penstock::store {
namespace {

using algorithm::Decision;
using algorithm::Outcome;
using std::chrono::seconds;
using testing::gcra;
using testing::kStart;
using testing::sliding_log;
using testing::window;

constexpr int kThreads = 4;

std::shared_ptr<Table> table_for(std::uint64_t keys) { return Table::create({.capacity_keys = keys}).value(); }

Hash128 counter_number(std::uint64_t number) {
  Random random{number};
  return {.low = random.next(), .high = random.next()};
}

algorithm::Limit peaked(std::uint32_t amount, std::int64_t window_seconds, std::uint32_t burst) {
  return algorithm::Limit::create({.algorithm = algorithm::Algorithm::token_bucket,
                                   .amount = amount,
                                   .window_seconds = window_seconds,
                                   .burst = burst,
                                   .peak = algorithm::PeakOptions{.amount = 1, .window_seconds = 3600, .burst = burst}})
      .value();
}

// One of each kind of state.
std::vector<algorithm::Limit> limits() {
  const algorithm::Limit sliding_window =
      algorithm::Limit::create(
          {.algorithm = algorithm::Algorithm::sliding_window, .amount = 4000, .window_seconds = 86'400})
          .value();
  return {window(4000, 86'400), gcra(1, 86'400, 4000), sliding_window, sliding_log(4000, 86'400),
          peaked(1, 86'400, 4000)};
}

// One loop: a front of the table, and what it was given.
class Racer final : LateDecisions {
 public:
  explicit Racer(const std::shared_ptr<Table>& table) : store_{table} {}

  // True where the whole group passed.
  bool decide(std::vector<Charge> charges, GroupMode mode, Instant now = kStart) {
    const Group group = {.charge_count = static_cast<std::uint32_t>(charges.size()), .mode = mode};
    std::vector<Decision> decisions(charges.size());
    store_.submit({.groups = {&group, 1}, .charges = charges, .decisions = decisions}, now, *this);
    bool passes = true;
    for (const Decision& decision : decisions) passes &= decision.outcome == Outcome::allowed;
    return passes;
  }
  // A batch of groups of one charge; returns how many passed.
  std::uint32_t decide_batch(const std::vector<Charge>& charges) {
    const std::vector<Group> groups(charges.size(), Group{.charge_count = 1});
    std::vector<Decision> decisions(charges.size());
    store_.submit({.groups = groups, .charges = charges, .decisions = decisions}, kStart, *this);
    std::uint32_t passed = 0;
    for (const Decision& decision : decisions) passed += decision.outcome == Outcome::allowed;
    return passed;
  }
  [[nodiscard]] const MemoryStoreMetrics& metrics() const { return store_.metrics(); }

 private:
  void on_decided(const Ticket&, std::span<const Decision>) override { ADD_FAILURE() << "nothing is answered late"; }

  MemoryStore store_;
};

// Runs `work(racer, thread)` on all threads at once.
template <class Work>
void race(const std::shared_ptr<Table>& table, Work work) {
  std::latch start{kThreads};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Racer racer{table};
      start.arrive_and_wait();
      work(racer, thread);
    });
  }
}

class TableRace : public ::testing::TestWithParam<algorithm::Limit> {};

TEST_P(TableRace, ThreadsThatRaceForOneCounterGetExactlyItsAmount) {
  const algorithm::Limit& limit = GetParam();
  const auto table = table_for(100);
  std::atomic<std::uint32_t> admitted = 0;
  race(table, [&](Racer& racer, int) {
    for (std::uint32_t i = 0; i < limit.capacity(); ++i) {
      admitted += racer.decide({{.counter = counter_number(1), .limit = &limit, .cost = 1}}, GroupMode::each);
    }
  });
  EXPECT_EQ(admitted, limit.capacity());
}

TEST_P(TableRace, CrossingGroupsChargeBothCountersOrNeitherAndDoNotDeadlock) {
  const algorithm::Limit& limit = GetParam();
  const auto table = table_for(100);
  std::atomic<std::uint32_t> admitted = 0;
  race(table, [&](Racer& racer, int thread) {
    const Charge a = {.counter = counter_number(1), .limit = &limit, .cost = 1};
    const Charge b = {.counter = counter_number(2), .limit = &limit, .cost = 1};
    const std::vector<Charge> charges = thread % 2 == 0 ? std::vector{a, b} : std::vector{b, a};
    for (std::uint32_t i = 0; i < limit.capacity(); ++i) admitted += racer.decide(charges, GroupMode::all_or_nothing);
  });
  EXPECT_EQ(admitted, limit.capacity());
  Racer after{table};
  for (const std::uint64_t number : {1u, 2u}) {
    EXPECT_FALSE(after.decide({{.counter = counter_number(number), .limit = &limit, .cost = 1}}, GroupMode::each));
  }
}

TEST_P(TableRace, RefusedGroupsOfOneThreadTakeNothingFromAnother) {
  const algorithm::Limit& limit = GetParam();
  const algorithm::Limit none = window(0, 60);
  const auto table = table_for(100);
  std::atomic<std::uint32_t> admitted = 0;
  race(table, [&](Racer& racer, int thread) {
    const Charge wanted = {.counter = counter_number(1), .limit = &limit, .cost = 1};
    const Charge blocked = {.counter = counter_number(2), .limit = &none, .cost = 1};
    for (std::uint32_t i = 0; i < limit.capacity(); ++i) {
      if (thread % 2 == 0) {
        admitted += racer.decide({wanted, blocked}, GroupMode::all_or_nothing);
      } else {
        admitted += racer.decide({wanted}, GroupMode::each);
      }
    }
  });
  EXPECT_EQ(admitted, limit.capacity());
}

TEST_P(TableRace, BatchesThatRaceForManyCountersGetExactlyTheAmountOfEach) {
  const algorithm::Limit& limit = GetParam();
  constexpr std::uint64_t kCounters = 40;
  const auto table = table_for(400);
  std::atomic<std::uint64_t> admitted = 0, inserted = 0;
  race(table, [&](Racer& racer, int thread) {
    Random random{static_cast<std::uint64_t>(thread)};
    const std::uint64_t asked = 2 * kCounters * limit.capacity() / kThreads;
    for (std::uint64_t done = 0; done < asked;) {
      std::vector<Charge> charges(1 + random.below(50));
      for (Charge& charge : charges) {
        charge = {.counter = counter_number(done++ % kCounters), .limit = &limit, .cost = 1};
      }
      admitted += racer.decide_batch(charges);
    }
    inserted += racer.metrics().inserted.value();
  });
  EXPECT_EQ(admitted, kCounters * limit.capacity());
  EXPECT_EQ(inserted, kCounters);
}

TEST_P(TableRace, LoopsWhoseClocksAreInDifferentUnitsOfCoarseTimeGetExactlyTheAmount) {
  const algorithm::Limit& limit = GetParam();
  const auto table = table_for(100);
  const std::int64_t unit = (kStart - kStateEpoch) / seconds{8192} + 1;
  const Instant boundary = kStateEpoch + unit * seconds{8192};
  std::atomic<std::uint32_t> admitted = 0;
  race(table, [&](Racer& racer, int thread) {
    const Instant now = boundary - Nanoseconds{thread % 2};
    for (std::uint32_t i = 0; i < limit.capacity(); ++i) {
      admitted += racer.decide({{.counter = counter_number(1), .limit = &limit, .cost = 1}}, GroupMode::each, now);
    }
  });
  EXPECT_GE(admitted, limit.capacity());
  EXPECT_LE(admitted, limit.capacity() + 1) << "a nanosecond may refill a unit, or begin a window";
}

TEST_P(TableRace, ThreadsThatInsertOneCounterAtOnceMakeOneOfIt) {
  constexpr std::uint64_t kCounters = 2000;
  const algorithm::Limit& limit = GetParam();
  const auto table = table_for(20'000);
  std::atomic<std::uint64_t> admitted = 0, inserted = 0;
  race(table, [&](Racer& racer, int) {
    for (std::uint64_t i = 0; i < kCounters; ++i) {
      const Charge all = {.counter = counter_number(i), .limit = &limit, .cost = limit.capacity()};
      admitted += racer.decide({all}, GroupMode::each);
    }
    inserted += racer.metrics().inserted.value();
  });
  EXPECT_EQ(admitted, kCounters);
  EXPECT_EQ(inserted, kCounters);
}

INSTANTIATE_TEST_SUITE_P(Limits, TableRace, ::testing::ValuesIn(limits()), [](const auto& test) {
  return std::string{to_string(test.param.algorithm())} + (test.param.has_peak() ? "_peak" : "");
});

// A counter that was pushed out starts fresh: with E evictions in all, at most (counters + E) bursts are admitted.
// Counters of one slot and of two, so that one newcomer may push out two.
TEST(TableRace, EvictionUnderRacesAdmitsNoMoreThanABurstForEachStayInTheTable) {
  constexpr std::uint64_t kCounters = 200;
  constexpr std::uint32_t kBurst = 3;
  const algorithm::Limit one = gcra(1, 86'400, kBurst), two = peaked(1, 86'400, kBurst);
  const auto table = table_for(40);
  std::atomic<std::uint64_t> admitted = 0, inserted = 0, evicted = 0;
  race(table, [&](Racer& racer, int thread) {
    Random random{static_cast<std::uint64_t>(thread)};
    const auto next = [&] {
      const std::uint64_t number = random.below(kCounters);
      return Charge{.counter = counter_number(number), .limit = number % 2 == 0 ? &one : &two, .cost = 1};
    };
    for (int i = 0; i < 5000; ++i) {
      if (i % 4 == 0) {
        admitted += racer.decide({next(), next()}, GroupMode::all_or_nothing) ? 2 : 0;
      } else {
        admitted += racer.decide_batch({next(), next(), next()});
      }
    }
    inserted += racer.metrics().inserted.value();
    evicted += racer.metrics().evicted.value();
  });
  EXPECT_GT(evicted, 0u);
  EXPECT_LE(admitted, inserted * kBurst);
}

}  // namespace
}  // namespace penstock::store
