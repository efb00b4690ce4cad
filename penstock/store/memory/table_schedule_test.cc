// Two or three threads in the table, in every order that their sync points allow (schedule.h): whatever the order, each
// must get what it gets in some order of one after the other, and so must who looks afterwards.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "penstock/store/memory/table_core.h"
#include "penstock/store/testing/conformance.h"
#include "penstock/store/testing/schedule.h"

namespace penstock::store {
namespace {

using algorithm::Decision;
using algorithm::Limit;
using algorithm::Verb;
using std::chrono::hours;
using std::chrono::seconds;
using testing::describe;
using testing::gcra;
using testing::kStart;
using testing::Schedule;
using testing::sliding_log;
using testing::window;

// Gives each sync point of the table to the schedule.
struct ScheduledSync {
  static inline const Bucket* first_bucket = nullptr;

  static std::string at(const char* what, const void* bucket) {
    return fmt::format("{} bucket {}", what, static_cast<const Bucket*>(bucket) - first_bucket);
  }
  static void reach(SyncPoint point, const void* bucket) {
    constexpr std::array kNames = {"guess in", "lock", "find in", "insert at", "write in", "unlock"};
    Schedule::pause(at(kNames[static_cast<std::size_t>(point)], bucket));
  }
  static void wait_while_locked(const void* bucket) {
    auto* const head = &const_cast<Bucket*>(static_cast<const Bucket*>(bucket))->head;
    Schedule::wait_until(at("wait for", bucket), [head] { return (std::atomic_ref{*head}.load() & 1) == 0; });
  }
};

struct Operation {
  std::vector<Charge> charges;
  GroupMode mode = GroupMode::each;
  Verb verb = Verb::decide;
  Instant now = kStart;
};

using Answers = std::vector<Decision>;

// A table of two buckets.
class World {
 public:
  explicit World(std::uint64_t log_bytes) : logs_{LogHome::create(log_bytes).value()} {
    ScheduledSync::first_bucket = buckets_.data();
  }

  Answers apply(const Operation& operation) {
    TableScratch scratch;
    MemoryStoreMetrics metrics;
    Answers answers(operation.charges.size());
    const Group group = {.charge_count = static_cast<std::uint32_t>(operation.charges.size()),
                         .verb = operation.verb,
                         .mode = operation.mode};
    core_.decide({.groups = {&group, 1}, .charges = operation.charges, .decisions = answers}, operation.now, scratch,
                 metrics);
    return answers;
  }

 private:
  std::vector<Bucket> buckets_{std::vector<Bucket>(2)};
  std::unique_ptr<LogHome> logs_;
  TableCore<ScheduledSync> core_{buckets_, *logs_};
};

struct Scenario {
  std::string name;
  std::vector<Operation> before = {};  // one after the other
  std::vector<Operation> threads;      // one each
  std::vector<Charge> looks;           // at the end
  std::uint64_t log_bytes = 0;
  std::size_t max_preemptions = 3;
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

struct Outcome {
  std::vector<Answers> answers;  // of each thread, then what a look at each counter says

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::string to_text(const Outcome& outcome) {
  std::string text;
  for (const Answers& answers : outcome.answers) {
    for (const Decision& decision : answers) text += "    " + describe(decision) + "\n";
    text += "    --\n";
  }
  return text;
}

void look_at_all(World& world, const Scenario& scenario, Outcome& outcome) {
  for (const Charge& charge : scenario.looks) {
    outcome.answers.push_back(world.apply({.charges = {charge}, .verb = Verb::look, .now = kStart + seconds{1}}));
  }
}

Outcome one_after_the_other(const Scenario& scenario, std::span<const std::size_t> order) {
  World world{scenario.log_bytes};
  Outcome outcome{.answers = std::vector<Answers>(scenario.threads.size())};
  for (const Operation& operation : scenario.before) world.apply(operation);
  for (const std::size_t thread : order) outcome.answers[thread] = world.apply(scenario.threads[thread]);
  look_at_all(world, scenario, outcome);
  return outcome;
}

std::vector<Outcome> all_serial_outcomes(const Scenario& scenario) {
  std::vector<std::size_t> order(scenario.threads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Outcome> outcomes;
  do {
    outcomes.push_back(one_after_the_other(scenario, order));
  } while (std::ranges::next_permutation(order).found);
  return outcomes;
}

// What is wrong with one interleaving.
std::string attempt(const Scenario& scenario, const std::vector<Outcome>& serial, Schedule& schedule) {
  World world{scenario.log_bytes};
  Outcome outcome{.answers = std::vector<Answers>(scenario.threads.size())};
  for (const Operation& operation : scenario.before) world.apply(operation);
  std::vector<std::function<void()>> tasks;
  for (std::size_t i = 0; i < scenario.threads.size(); ++i) {
    tasks.emplace_back([&, i] { outcome.answers[i] = world.apply(scenario.threads[i]); });
  }
  if (!schedule.run(std::move(tasks))) {
    ADD_FAILURE() << "a deadlock:\n" << schedule.trace();
    std::abort();  // threads stay behind, and this world with them
  }
  look_at_all(world, scenario, outcome);
  if (std::ranges::find(serial, outcome) != serial.end()) return {};
  return "no order of one after the other gives\n" + to_text(outcome) + "  but the first of these gives\n" +
         to_text(serial.front());
}

// The counter `number`, whose first and second bucket are as said.
Hash128 counter_in(std::uint64_t first, std::uint64_t second, std::uint64_t number) {
  return {.low = second << 63 | first << 31, .high = number};
}

Charge charge_on(const Hash128& counter, const Limit& limit, std::uint64_t cost = 1) {
  return {.counter = counter, .limit = &limit, .cost = cost};
}

Limit peaked(std::uint32_t burst) {
  return Limit::create({.algorithm = algorithm::Algorithm::gcra,
                        .amount = 1,
                        .window_seconds = 86'400,
                        .burst = burst,
                        .peak = algorithm::PeakOptions{.amount = 1, .window_seconds = 3600, .burst = burst}})
      .value();
}

const Limit kOnce = gcra(1, 86'400, 1);
const Limit kTen = gcra(1, 86'400, 10);
const Limit kThreeCounted = window(3, 86'400, true);
const Limit kTwoWords = peaked(2);
const Limit kLog = sliding_log(20, 3600);
const Limit kMinute = gcra(1, 60, 1);

// Counters that fill both buckets, with ever more of their limit used.
std::vector<Operation> full_table() {
  std::vector<Operation> operations;
  for (std::uint64_t i = 0; i < 14; ++i) {
    operations.push_back({.charges = {charge_on(counter_in(i % 2, i % 2, 100 + i), kTen, 1 + i / 2)}});
  }
  return operations;
}

const Hash128 kA = counter_in(0, 1, 1), kB = counter_in(1, 0, 2), kC = counter_in(0, 1, 3);
const Hash128 kWeakest = counter_in(0, 0, 100), kNextWeakest = counter_in(1, 1, 101);  // of the full table

Operation one(const Hash128& counter, const Limit& limit, std::uint64_t cost = 1) {
  return {.charges = {charge_on(counter, limit, cost)}};
}

Operation both_or_neither(const Charge& first, const Charge& second) {
  return {.charges = {first, second}, .mode = GroupMode::all_or_nothing};
}

std::vector<Scenario> with_insertions() {
  return {
      {.name = "TwoInsertOneCounter", .threads = {one(kA, kOnce), one(kA, kOnce)}, .looks = {charge_on(kA, kOnce)}},
      // Who finds the second bucket locked lets the first go, and must look there again.
      {.name = "TwoInsertOneCounterBehindAThird",
       .threads = {one(kB, kOnce), one(kB, kOnce), one(counter_in(0, 0, 4), kOnce)},
       .looks = {charge_on(kB, kOnce)},
       .max_preemptions = 2},
      {.name = "InsertionsWhoseBucketsCross",
       .threads = {one(kA, kTen), one(kB, kTen)},
       .looks = {charge_on(kA, kTen), charge_on(kB, kTen)}},
      {.name = "TwoInsertOneCounterOfTwoWords",
       .threads = {one(kA, kTwoWords), one(kA, kTwoWords)},
       .looks = {charge_on(kA, kTwoWords)}},
  };
}

std::vector<Scenario> with_counters_that_are_there() {
  std::vector<Operation> a_in_its_second_bucket;
  for (std::uint64_t i = 0; i < 5; ++i) a_in_its_second_bucket.push_back(one(counter_in(0, 0, 50 + i), kTen));
  a_in_its_second_bucket.push_back(one(kA, kTen));
  Operation refund = one(kA, kTen);
  refund.verb = Verb::refund;
  Operation three_hours_later = one(kA, kTen);
  three_hours_later.now += hours{3};
  return {
      {.name = "TwoHitOneCounter",
       .before = {one(kA, kThreeCounted)},
       .threads = {one(kA, kThreeCounted), one(kA, kThreeCounted)},
       .looks = {charge_on(kA, kThreeCounted)}},
      {.name = "TwoHitACounterInItsSecondBucket",
       .before = a_in_its_second_bucket,
       .threads = {one(kA, kTen), one(kA, kTen)},
       .looks = {charge_on(kA, kTen)}},
      {.name = "RefundEmptiesWhatIsHit",
       .before = {one(kA, kTen)},
       .threads = {refund, one(kA, kTen)},
       .looks = {charge_on(kA, kTen)}},
      {.name = "ClocksInDifferentUnits",
       .before = {one(kA, kTen), one(kC, kMinute)},
       .threads = {three_hours_later, one(kA, kTen), one(kC, kMinute)},
       .looks = {charge_on(kA, kTen)},
       .max_preemptions = 2},
  };
}

std::vector<Scenario> with_evictions() {
  return {
      {.name = "HitMeetsEviction",
       .before = full_table(),
       .threads = {one(kWeakest, kTen), one(kA, kTen)},
       .looks = {charge_on(kWeakest, kTen), charge_on(kNextWeakest, kTen), charge_on(kA, kTen)}},
      {.name = "TwoNewcomersEvict",
       .before = full_table(),
       .threads = {one(kA, kTen), one(kB, kTen)},
       .looks = {charge_on(kWeakest, kTen), charge_on(kNextWeakest, kTen), charge_on(kA, kTen), charge_on(kB, kTen)}},
      {.name = "NewcomerOfTwoWordsEvictsWhoIsHit",
       .before = full_table(),
       .threads = {one(kA, kTwoWords), one(kWeakest, kTen)},
       .looks = {charge_on(kA, kTwoWords), charge_on(kWeakest, kTen), charge_on(kNextWeakest, kTen)}},
  };
}

std::vector<Scenario> with_groups() {
  const Charge a = charge_on(kA, kOnce), b = charge_on(kB, kOnce), c = charge_on(kC, kTen);
  return {
      {.name = "GroupsCross", .threads = {both_or_neither(a, b), both_or_neither(b, a)}, .looks = {a, b}},
      {.name = "GroupMeetsSingleCharges",
       .before = {one(kC, kTen)},
       .threads = {both_or_neither(a, c), one(kA, kOnce), one(kC, kTen)},
       .looks = {a, c},
       .max_preemptions = 2},
  };
}

std::vector<Scenario> with_logs() {
  constexpr std::uint64_t kTwoSmallRings = 2 * 108;
  std::vector<Operation> full_with_log = full_table();
  full_with_log.push_back(one(kA, kLog, 2));
  return {
      {.name = "LogGrowsIntoARing",
       .before = {one(kA, kLog, 2)},
       .threads = {one(kA, kLog), one(kA, kLog)},
       .looks = {charge_on(kA, kLog)},
       .log_bytes = kTwoSmallRings},
      {.name = "LogIsEvictedWhileItGrows",
       .before = full_with_log,
       .threads = {one(kA, kLog, 2), one(kB, kTwoWords)},
       .looks = {charge_on(kA, kLog), charge_on(kB, kTwoWords)},
       .log_bytes = kTwoSmallRings},
  };
}

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  for (const auto& some :
       {with_insertions(), with_counters_that_are_there(), with_evictions(), with_groups(), with_logs()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class TableSchedule : public ::testing::TestWithParam<Scenario> {};

TEST_P(TableSchedule, EveryInterleavingIsAsOneAfterTheOther) {
  const Scenario& scenario = GetParam();
  const std::vector<Outcome> serial = all_serial_outcomes(scenario);
  const testing::Exploration explored =
      testing::explore({.max_preemptions = scenario.max_preemptions},
                       [&](Schedule& schedule) { return attempt(scenario, serial, schedule); });
  EXPECT_TRUE(explored.failure.empty()) << explored.failure;
  EXPECT_TRUE(explored.complete || !explored.failure.empty())
      << "only " << explored.schedules << " interleavings were tried";
  RecordProperty("schedules", static_cast<int>(explored.schedules));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, TableSchedule, ::testing::ValuesIn(scenarios()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace penstock::store
