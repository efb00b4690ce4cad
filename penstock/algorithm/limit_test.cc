#include "penstock/algorithm/limit.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"

namespace penstock::algorithm::testing {
namespace {

LimitOptions as(Algorithm algorithm, LimitOptions options) {
  options.algorithm = algorithm;
  return options;
}

LimitOptions spread(LimitOptions options) {
  options.spread_windows = true;
  return options;
}

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
      {gcra_options(0, 1, 1), "gcra needs an amount", "at least 1"},
      {gcra_options(1, 1, 0), "burst of 0", "1 to 4294967295"},
      {as(Algorithm::token_bucket, gcra_options(0, 1, 1)), "token_bucket needs an amount", "at least 1"},
      {as(Algorithm::leaky_bucket, gcra_options(0, 1, 1)), "leaky_bucket needs an amount", "at least 1"},
      {sliding_options(1, 0), "window of 0 seconds", "1 to 1073741823"},
      {log_options(1, 0), "window of 0 seconds", "1 to 1073741823"},
      {log_options(0, 60), "sliding_log of 0", "1 to 65536"},
      {log_options(65'537, 60), "sliding_log of 65537", "use sliding_window"},
      {peak_options(gcra_options(1, 1, 1), {0, 1, 1}), "peak: gcra needs an amount", "at least 1"},
      {peak_options(gcra_options(1, 1, 1), {1, 0, 1}), "peak: a window of 0 seconds", "1 to 1073741823"},
      {peak_options(gcra_options(1, 1, 1), {1, 1, 0}), "peak: a burst of 0", "1 to 4294967295"},
      {peak_options(window_options(1, 60, false), {5, 2, 1}), "a peak of 5 in 2 seconds", "token_bucket, leaky_bucket"},
      {peak_options(sliding_options(1, 60), {5, 2, 1}), "no meaning for sliding_window", "accepted with token_bucket"},
      {peak_options(log_options(1, 60), {5, 2, 1}), "no meaning for sliding_log", "accepted with token_bucket"},
      {as(Algorithm::gcra, shaper_options(1, 1, 1, Nanoseconds{7})), "max_wait of 7 ns", "accepted with leaky_bucket"},
      {as(Algorithm::fixed_window, shaper_options(1, 1, 1, Nanoseconds{7})), "for fixed_window", "leaky_bucket"},
      {shaper_options(1, 1, 1, Nanoseconds{-1}), "max_wait of -1 ns", "0 to 86400000000000 (24 hours)"},
      {shaper_options(1, 1, 1, Limit::kMaxWait + Nanoseconds{1}), "max_wait of 86400000000001 ns", "24 hours"},
      {spread(gcra_options(1, 1, 1)), "gcra has no windows", "accepted with fixed_window and sliding_window"},
      {spread(log_options(1, 1)), "sliding_log has no windows", "accepted with fixed_window and sliding_window"},
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
  std::vector<LimitOptions> all = buckets();
  for (const std::uint32_t amount : {1u, 7u, kMost - 1, kMost}) {
    for (const std::int64_t seconds : {std::int64_t{1}, std::int64_t{86'399}, Limit::kMaxWindowSeconds}) {
      for (const std::uint32_t burst : {1u, kMost}) all.push_back(gcra_options(amount, seconds, burst));
    }
  }
  __extension__ using Wide = __int128;
  for (const LimitOptions& options : all) {
    SCOPED_TRACE(::testing::PrintToString(options));
    const Limit limit = Limit::create(options).value();
    EXPECT_EQ(Wide{limit.ticks().per_cost} * options.amount, Wide{limit.ticks().per_second} * options.window_seconds);
    EXPECT_GE(limit.ticks().per_cost, 1);
    EXPECT_LT(Wide{limit.ticks().per_second} * kThirtyYears, kBound);
    EXPECT_LT(Wide{limit.ticks().per_cost} * options.burst, kBound);
    EXPECT_EQ(limit.ticks().per_burst, limit.ticks().per_cost * options.burst);
  }
}

TEST(Limit, TakesWholeNanosecondsWhereItCan) {
  EXPECT_GT(gcra(10, 1, 10).ticks().per_nanosecond, 0);
  EXPECT_GT(gcra(1'000'000, 1, 1'000).ticks().per_nanosecond, 0);
  EXPECT_EQ(gcra(7, 1, 7).ticks().per_nanosecond, 0);
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
  const auto scale = [](const LimitOptions& options) { return Limit::create(options).value().scale_check(); };
  EXPECT_EQ(window(10, 60).scale_check(), window(20, 60, true).scale_check());
  EXPECT_NE(window(10, 60).scale_check(), window(10, 61).scale_check());
  EXPECT_NE(scale(window_options(10, 60, false)), scale(spread(window_options(10, 60, false))));
  EXPECT_NE(gcra(6, 60, 6).scale_check(), gcra(7, 60, 7).scale_check());
  EXPECT_EQ(scale(log_options(10, 60)), scale(log_options(20, 61))) << "entries stand at instants";
  const LimitOptions bucket = gcra_options(6, 60, 6);
  EXPECT_NE(scale(peak_options(bucket, {7, 1, 1})), scale(peak_options(bucket, {8, 1, 1})));
  EXPECT_EQ(scale(peak_options(bucket, {7, 1, 1})), scale(peak_options(bucket, {7, 1, 2})));
  EXPECT_EQ(scale(shaper_options(6, 60, 6, std::chrono::seconds{1})), scale(shaper_options(6, 60, 6, Nanoseconds{0})));
}

TEST(Limit, TwoWordsAreKeptWhereOneIsNotEnough) {
  EXPECT_EQ(window(10, 60).state_words(), 1);
  EXPECT_EQ(gcra(10, 60, 10).state_words(), 1);
  EXPECT_EQ(shaper(10, 60, 10, std::chrono::seconds{1}).state_words(), 1);
  EXPECT_EQ(sliding_window(10, 60).state_words(), 2);
  EXPECT_EQ(sliding_log(10, 60).state_words(), 2);
  EXPECT_EQ(gcra(gcra_options(10, 60, 10), {1, 1, 1}).state_words(), 2);
}

TEST(Limit, SpreadWindowsBeginEvenlyOverTheWindow) {
  const Limit limit = Limit::create(spread(window_options(10, 60, false))).value();
  const auto offset = [&](std::uint64_t hash) { return limit.window_offset({.low = 7, .high = hash}); };
  EXPECT_EQ(offset(0), Nanoseconds{0});
  EXPECT_EQ(offset(std::uint64_t{1} << 63), std::chrono::seconds{30});
  EXPECT_EQ(offset(UINT64_MAX), std::chrono::seconds{60} - Nanoseconds{1});
  EXPECT_EQ(window(10, 60).window_offset({.low = 7, .high = UINT64_MAX}), Nanoseconds{0});
  const Limit longest = Limit::create(spread(sliding_options(10, Limit::kMaxWindowSeconds))).value();
  EXPECT_LT(longest.window_offset({.low = 0, .high = UINT64_MAX}), std::chrono::seconds{Limit::kMaxWindowSeconds});
}

}  // namespace
}  // namespace penstock::algorithm::testing
