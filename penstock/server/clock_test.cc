#include "penstock/server/clock.h"

#include <chrono>

#include <gtest/gtest.h>

namespace penstock::server {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kBoot = 1000s;
constexpr Nanoseconds kWall = 1'800'000'000s;

TEST(WallOffset, StartsAtTheWall) {
  const WallOffset clock{kBoot, kWall};
  EXPECT_EQ(clock.at(kBoot), Instant{kWall});
  EXPECT_EQ(clock.at(kBoot + 5s), Instant{kWall + 5s});
}

TEST(WallOffset, FollowsAWallThatIsFastByAtMost500PartsPerMillion) {
  WallOffset clock{kBoot, kWall};
  EXPECT_EQ(clock.observe(kBoot + 1s, kWall + 1s + 100ms), 0ns);
  EXPECT_EQ(clock.at(kBoot + 1s), Instant{kWall + 1s + 500us});
  EXPECT_EQ(clock.observe(kBoot + 2s, kWall + 2s + 100us), 0ns);
  EXPECT_EQ(clock.at(kBoot + 2s), Instant{kWall + 2s + 100us}) << "a difference within the budget is taken whole";
  EXPECT_EQ(clock.steps(), 0u);
}

TEST(WallOffset, FollowsAWallThatIsSlowWithoutEverRunningBackwards) {
  WallOffset clock{kBoot, kWall};
  Instant last = clock.at(kBoot);
  for (int second = 1; second <= 100; ++second) {
    clock.observe(kBoot + second * 1s, kWall + second * 1s - 100ms);
    const Instant now = clock.at(kBoot + second * 1s);
    ASSERT_GT(now, last);
    last = now;
  }
  EXPECT_EQ(last, Instant{kWall + 100s - 50ms}) << "100 s of slewing by 500 us each";
}

TEST(WallOffset, AppliesALargeStepOnceAndCountsIt) {
  WallOffset clock{kBoot, kWall};
  EXPECT_EQ(clock.observe(kBoot + 1s, kWall + 3601s), 3600s);
  EXPECT_EQ(clock.at(kBoot + 1s), Instant{kWall + 3601s});
  EXPECT_EQ(clock.observe(kBoot + 2s, kWall + 3602s), 0ns);
  EXPECT_EQ(clock.observe(kBoot + 3s, kWall + 3s), -3600s) << "and back again";
  EXPECT_EQ(clock.steps(), 2u);
}

TEST(WallOffset, ReadsClocksThatMove) {
  EXPECT_GT(read_monotonic(), 0ns);
  EXPECT_GT(read_wall(), kWall - 1'000'000'000s);
}

}  // namespace
}  // namespace penstock::server
