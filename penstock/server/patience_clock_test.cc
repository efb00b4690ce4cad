#include "penstock/server/patience_clock.h"

#include <gtest/gtest.h>

namespace penstock::server {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(PatienceClock, FollowsWhoeverLooksOften) {
  PatienceClock clock{seconds{1}};
  const Instant began = clock.look(hours{5});
  EXPECT_EQ(clock.look(hours{5} + seconds{1}) - began, seconds{1});
  EXPECT_EQ(clock.look(hours{5} + Nanoseconds{1'500'000'000}) - began, Nanoseconds{1'500'000'000});
}

TEST(PatienceClock, TakesASleepForOneLook) {
  PatienceClock clock{seconds{1}};
  const Instant began = clock.look(seconds{0});
  EXPECT_EQ(clock.look(hours{10}) - began, seconds{1});
  EXPECT_EQ(clock.look(hours{9}) - began, seconds{1}) << "and never goes back";
}

}  // namespace
}  // namespace penstock::server
