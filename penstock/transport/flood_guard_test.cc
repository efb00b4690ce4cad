#include "penstock/transport/flood_guard.h"

#include <gtest/gtest.h>

#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using testing::kNow;

int spent(Budget& budget, Instant now) {
  int count = 0;
  while (count < 1000 && budget.spend(now)) ++count;
  return count;
}

TEST(Budget, AllowsABurstAndThenItsRate) {
  Budget budget{10, 5};
  EXPECT_EQ(spent(budget, kNow), 10);
  EXPECT_EQ(spent(budget, kNow + std::chrono::seconds{1}), 5);
  EXPECT_EQ(spent(budget, kNow + std::chrono::milliseconds{1200}), 1);
  EXPECT_EQ(spent(budget, kNow + std::chrono::hours{24 * 365 * 200}), 10) << "never more than the burst";
}

TEST(Budget, FillsEventuallyHoweverOftenItIsAsked) {
  Budget budget{1, 1};
  int passed = 0;
  for (int i = 0; i < 10'000; ++i) passed += budget.spend(kNow + std::chrono::milliseconds{i}) ? 1 : 0;
  EXPECT_EQ(passed, 10);
}

TEST(Budget, TakesAClockThatStepsBackForNoTimePassing) {
  Budget budget{2, 1};
  EXPECT_EQ(spent(budget, kNow), 2);
  EXPECT_EQ(spent(budget, kNow - std::chrono::hours{1}), 0);
  EXPECT_EQ(spent(budget, kNow - std::chrono::hours{1} + std::chrono::seconds{1}), 1) << "and goes on from there";
}

TEST(Budget, EarnsUpToItsBurst) {
  Budget budget{10, 0};
  EXPECT_EQ(spent(budget, kNow), 10);
  budget.earn(3);
  EXPECT_EQ(spent(budget, kNow + std::chrono::hours{1}), 3);
  budget.earn(1000);
  EXPECT_EQ(spent(budget, kNow), 10);
}

TEST(FloodGuard, LetsEveryStreamBeResetOnceForNothing) {
  FloodGuard guard{{.abort_burst = 1, .aborts_per_second = 0, .idle_burst = 1, .idle_frames_per_second = 0}};
  for (int i = 0; i < 1'000'000; ++i) guard.on_stream();
  for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(guard.on_reset(kNow)) << i;
  EXPECT_TRUE(guard.on_reset(kNow)) << "the budget of idle frames";
  EXPECT_FALSE(guard.on_reset(kNow));
}

}  // namespace
}  // namespace penstock::transport
