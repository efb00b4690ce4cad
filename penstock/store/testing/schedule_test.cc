#include "penstock/store/testing/schedule.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace penstock::store::testing {
namespace {

constexpr ExploreBounds kNoBounds = {.max_preemptions = 1'000, .max_schedules = 1'000'000};

// Three steps each, so 6! / (3! 3!) ways to interleave two of them.
TEST(Schedule, GoesThroughEveryInterleavingOnce) {
  std::multiset<std::string> seen;
  const Exploration all = explore(kNoBounds, [&](Schedule& schedule) -> std::string {
    std::string order;
    const auto task = [&order](char name) {
      return [&order, name] {
        for (int i = 0; i < 2; ++i) {
          order += name;
          Schedule::pause("between");
        }
        order += name;
      };
    };
    if (!schedule.run({task('a'), task('b')})) return "did not end";
    seen.insert(order);
    return {};
  });
  EXPECT_EQ(all.failure, "");
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.schedules, 20u);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 20u);
}

TEST(Schedule, FindsALostUpdateAndSaysHowItCame) {
  const Exploration found = explore({.max_preemptions = 1}, [](Schedule& schedule) -> std::string {
    int counter = 0;
    const auto increment = [&counter] {
      const int before = counter;
      Schedule::pause("having read");
      counter = before + 1;
    };
    if (!schedule.run({increment, increment})) return "did not end";
    return counter == 2 ? "" : "an update was lost";
  });
  EXPECT_NE(found.failure.find("an update was lost"), std::string::npos) << found.failure;
  EXPECT_NE(found.failure.find("thread 0: its beginning -> having read\n  thread 1: its beginning"), std::string::npos)
      << found.failure;
}

TEST(Schedule, WithoutPreemptionsFindsNoLostUpdate) {
  const Exploration found = explore({.max_preemptions = 0}, [](Schedule& schedule) -> std::string {
    int counter = 0;
    const auto increment = [&counter] {
      const int before = counter;
      Schedule::pause("having read");
      counter = before + 1;
    };
    if (!schedule.run({increment, increment})) return "did not end";
    return counter == 2 ? "" : "an update was lost";
  });
  EXPECT_EQ(found.failure, "");
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.schedules, 2u);
}

TEST(Schedule, FindsADeadlock) {
  struct Locks {
    bool held[2] = {};
  };
  const Exploration found = explore(kNoBounds, [](Schedule& schedule) -> std::string {
    const auto locks = std::make_shared<Locks>();  // outlives this run: its threads stay behind
    const auto lock = [locks](int which) {
      Schedule::wait_until("locking", [locks, which] { return !locks->held[which]; });
      locks->held[which] = true;
    };
    const auto both = [locks, lock](int first) {
      return [locks, lock, first] {
        lock(first);
        lock(1 - first);
        locks->held[0] = locks->held[1] = false;
      };
    };
    return schedule.run({both(0), both(1)}) ? "" : "a deadlock";
  });
  EXPECT_NE(found.failure.find("a deadlock"), std::string::npos);
}

}  // namespace
}  // namespace penstock::store::testing
