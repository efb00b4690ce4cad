#include "penstock/algorithm/limit.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"

namespace penstock::algorithm::testing {
namespace {

struct Refused {
  LimitOptions options;
  const char* names;
  const char* accepts;
};

TEST(Limit, RefusesWhatCannotBeDecidedAndSaysWhatIsAccepted) {
  const Refused cases[] = {
      {window_options(1, 0, false), "window of 0 seconds", "1 to 1073741823"},
      {window_options(1, -5, false), "window of -5 seconds", "1 to 1073741823"},
      {window_options(1, Limit::kMaxWindowSeconds + 1, false), "window of 1073741824 seconds", "1 to 1073741823"},
      {gcra_options(1, 0, 1), "window of 0 seconds", "1 to 1073741823"},
      {gcra_options(0, 1, 1), "gcra needs a rate", "at least 1"},
      {gcra_options(1, 1, 0), "burst of 0", "1 to 4294967295"},
  };
  for (const Refused& refused : cases) {
    const Result<Limit> limit = Limit::create(refused.options);
    ASSERT_FALSE(limit.has_value()) << refused.names;
    EXPECT_EQ(limit.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(limit.error().message.find(refused.names), std::string::npos) << limit.error().message;
    EXPECT_NE(limit.error().message.find(refused.accepts), std::string::npos) << limit.error().message;
  }
}

TEST(Limit, KeepsEveryRateExactlyWithinItsBounds) {
  constexpr std::int64_t kBound = std::int64_t{1} << 62;
  constexpr std::int64_t kThirtyYears = 30 * 31'536'000LL;
  std::vector<LimitOptions> all = buckets_of_all_sizes();
  for (const std::uint32_t amount : {1u, 7u, kMost - 1, kMost}) {
    for (const std::int64_t seconds : {std::int64_t{1}, std::int64_t{86'399}, Limit::kMaxWindowSeconds}) {
      for (const std::uint32_t burst : {1u, kMost}) all.push_back(gcra_options(amount, seconds, burst));
    }
  }
  __extension__ using Wide = __int128;
  for (const LimitOptions& options : all) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const Limit limit = Limit::create(options).value();
    EXPECT_EQ(Wide{limit.ticks_per_cost()} * options.amount, Wide{limit.ticks_per_second()} * options.window_seconds);
    EXPECT_GE(limit.ticks_per_cost(), 1);
    EXPECT_LT(Wide{limit.ticks_per_second()} * kThirtyYears, kBound);
    EXPECT_LT(Wide{limit.ticks_per_cost()} * options.burst, kBound);
    EXPECT_EQ(limit.ticks_per_burst(), limit.ticks_per_cost() * options.burst);
  }
}

TEST(Limit, TakesWholeNanosecondsWhereItCan) {
  EXPECT_GT(gcra(10, 1, 10).ticks_per_nanosecond(), 0);
  EXPECT_GT(gcra(1'000'000, 1, 1'000).ticks_per_nanosecond(), 0);
  EXPECT_EQ(gcra(7, 1, 7).ticks_per_nanosecond(), 0);
}

TEST(Limit, EveryWindowSaysItsAmountAsCapacityAndBucketsTheirBurst) {
  EXPECT_EQ(window(100, 60).capacity(), 100u);
  EXPECT_EQ(window(0, 60).capacity(), 0u);
  EXPECT_EQ(gcra(100, 60, 7).capacity(), 7u);
}

TEST(Limit, OriginalWindowIsAWindowThatCountsRefusedCost) {
  EXPECT_EQ(Limit::original_window(10, 3600), window(10, 3600, true));
}

TEST(Limit, ScaleChangesOnlyWhereStatesReadDifferently) {
  EXPECT_EQ(window(10, 60).scale_check(), window(20, 60, true).scale_check());
  EXPECT_NE(window(10, 60).scale_check(), window(10, 61).scale_check());
  EXPECT_NE(gcra(6, 60, 6).scale_check(), gcra(7, 60, 7).scale_check());
}

}  // namespace
}  // namespace penstock::algorithm::testing
