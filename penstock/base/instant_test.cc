#include "penstock/base/instant.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;

static_assert(!std::is_convertible_v<steady_clock::time_point, Instant>, "a monotonic reading is not an instant");
static_assert(!std::is_convertible_v<system_clock::time_point, Instant>, "a wall reading is not an instant");

TEST(Instant, BeforeTheStateEpochCountsAsTheEpoch) {
  EXPECT_EQ(since_state_epoch(instant_from_unix_seconds(0)), Nanoseconds{0});
  EXPECT_EQ(since_state_epoch(kStateEpoch + Nanoseconds{5}), Nanoseconds{5});
}

}  // namespace
}  // namespace penstock
