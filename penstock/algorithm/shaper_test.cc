#include <algorithm>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Decision ask_to_wait(Counter& counter, std::uint64_t cost, Instant now) {
  return counter.ask({.accepts_wait = true, .cost = cost, .now = now});
}

TEST(Shaper, SpacesWhatItHoldsBackEvenlyAndRefusesBeyondTheLongestWait) {
  Counter counter{shaper(10, 1, 1, milliseconds{350})};
  for (const int wait : {0, 100, 200, 300}) {
    const Decision decision = ask_to_wait(counter, 1, kZero);
    EXPECT_EQ(decision.outcome, Outcome::allowed) << wait;
    EXPECT_TRUE(decision.charged);
    EXPECT_EQ(decision.retry_after, milliseconds{wait});
    EXPECT_EQ(decision.remaining, 0u);
  }
  const Decision refused = ask_to_wait(counter, 1, kZero);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, milliseconds{400});
  EXPECT_EQ(ask_to_wait(counter, 1, kZero + milliseconds{50}).retry_after, milliseconds{350});
}

TEST(Shaper, AdmitsWhoCannotWaitOnlyWhereThereIsNoWait) {
  Counter counter{shaper(10, 1, 1, milliseconds{350})};
  ask_to_wait(counter, 1, kZero);
  ask_to_wait(counter, 1, kZero);
  const Decision refused = counter.decide(1, kZero);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.retry_after, milliseconds{200}) << "those who wait come first";
  EXPECT_EQ(counter.decide(1, kZero + milliseconds{199}).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(1, kZero + milliseconds{200}).outcome, Outcome::allowed);
}

TEST(Shaper, WithoutMaxWaitIsAMeter) {
  Counter counter{shaper(10, 1, 2, Nanoseconds{0})};
  for (const bool admitted : {true, true, false}) {
    EXPECT_EQ(ask_to_wait(counter, 1, kZero).outcome == Outcome::allowed, admitted);
  }
}

TEST(Shaper, WhoGivesUpLeavesHisPlaceToThoseWhoComeLater) {
  Counter counter{shaper(1, 1, 1, seconds{10})};
  for (int i = 0; i < 4; ++i) ask_to_wait(counter, 1, kZero);
  EXPECT_EQ(counter.refund(1, kZero, kZero).outcome, Outcome::allowed);
  EXPECT_EQ(ask_to_wait(counter, 1, kZero).retry_after, seconds{3});
  counter.refund(UINT64_MAX, kZero, kZero);
  EXPECT_EQ(ask_to_wait(counter, 1, kZero).retry_after, Nanoseconds{seconds{3}}) << "a refund is a burst at most";
}

TEST(Shaper, LargerCostWaitsForItsWholeAmount) {
  Counter counter{shaper(1, 1, 4, seconds{5})};
  EXPECT_EQ(ask_to_wait(counter, 4, kZero).retry_after, Nanoseconds{0});
  EXPECT_EQ(ask_to_wait(counter, 3, kZero).retry_after, seconds{3});
  EXPECT_EQ(ask_to_wait(counter, 3, kZero).outcome, Outcome::denied);
  EXPECT_EQ(ask_to_wait(counter, 2, kZero).retry_after, seconds{5});
  EXPECT_EQ(ask_to_wait(counter, 5, kZero).outcome, Outcome::never);
}

TEST(Shaper, WithAPeakWaitsForBoth) {
  Counter counter{
      Limit::create(peak_options(shaper_options(10, 1, 3, seconds{2}), {.amount = 50, .window_seconds = 1, .burst = 1}))
          .value()};
  for (const int wait : {0, 20, 40, 100, 200, 300}) {
    EXPECT_EQ(ask_to_wait(counter, 1, kZero).retry_after, milliseconds{wait}) << "the peak first, then the rate";
  }
  EXPECT_EQ(counter.look(1, kZero).reset_after, milliseconds{600});
}

TEST(Shaper, ClockThatStepsBackForgetsNobodyWhoWaits) {
  Counter counter{shaper(1, 1, 1, seconds{30})};
  for (int i = 0; i < 20; ++i) ask_to_wait(counter, 1, kOddInstant);
  EXPECT_EQ(ask_to_wait(counter, 1, kOddInstant - seconds{3}).retry_after, seconds{23});
  EXPECT_EQ(ask_to_wait(counter, 1, kOddInstant - std::chrono::hours{9}).outcome, Outcome::denied);
  EXPECT_EQ(counter.look(1, kOddInstant - std::chrono::hours{9}).retry_after, seconds{31}) << "brought back to full";
}

// nginx limit_req as its documentation and tests describe it, in thousandths of a request.
class LimitReq {
 public:
  struct Options {
    std::int64_t rate;  // a thousandth of a request in a second
    std::int64_t burst;
    std::optional<std::int64_t> delay;  // none: nodelay
  };

  explicit LimitReq(const Options& options) : options_{options} {}

  // How long the request is held back; none: refused.
  std::optional<milliseconds> request(milliseconds now) {
    const std::int64_t drained = options_.rate * (now - last_).count() / 1000;
    const std::int64_t excess = seen_ ? std::max<std::int64_t>(excess_ - drained + 1000, 0) : 0;
    if (excess > options_.burst * 1000) return std::nullopt;
    seen_ = true;
    excess_ = excess;
    last_ = now;
    if (!options_.delay || excess <= *options_.delay * 1000) return milliseconds{0};
    return milliseconds{(excess - *options_.delay * 1000) * 1000 / options_.rate};
  }

 private:
  Options options_;
  bool seen_ = false;
  std::int64_t excess_ = 0;
  milliseconds last_{0};
};

// The same with a leaky_bucket: burst 1 + delay, and the rest of nginx's burst as the longest wait; with nodelay burst
// 1 + burst and no wait.
Limit same_as(const LimitReq::Options& options) {
  const std::int64_t at_once = options.delay.value_or(options.burst);
  const Nanoseconds interval{1'000'000'000'000 / options.rate};
  return shaper(static_cast<std::uint32_t>(options.rate), 1000, static_cast<std::uint32_t>(1 + at_once),
                (options.burst - at_once) * interval);
}

TEST(Shaper, AnswersTheVectorsOfLimitReq) {
  constexpr int kRefused = -1;
  struct Row {
    LimitReq::Options options;
    std::vector<int> waits_ms;
  };
  for (const Row& row : {Row{{2000, 1, std::nullopt}, {0, 0, kRefused}}, Row{{500, 2, 1}, {0, 0, 2000, kRefused}},
                         Row{{1000, 3, 0}, {0, 1000, 2000, 3000, kRefused}}}) {
    LimitReq nginx{row.options};
    Counter counter{same_as(row.options)};
    for (const int wait : row.waits_ms) {
      const Decision decision = ask_to_wait(counter, 1, kZero);
      EXPECT_EQ(decision.outcome == Outcome::allowed, wait != kRefused);
      if (wait != kRefused) {
        EXPECT_EQ(decision.retry_after, milliseconds{wait});
      }
      EXPECT_EQ(nginx.request(milliseconds{0}).has_value(), wait != kRefused);
    }
  }
}

TEST(Shaper, DecidesAsLimitReqOnRandomStreams) {
  for (const LimitReq::Options& options : {LimitReq::Options{2000, 1, std::nullopt},
                                           {2000, 5, 0},
                                           {500, 2, 1},
                                           {10'000, 20, 8},
                                           {1000, 0, std::nullopt}}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(::testing::Message() << "rate " << options.rate << ", seed " << seed);
      Random random{seed};
      LimitReq nginx{options};
      Counter counter{same_as(options)};
      milliseconds now{0};
      for (int step = 0; step < 300; ++step) {
        now += milliseconds{
            2 * static_cast<std::int64_t>(random.below(1'200'000 / static_cast<std::uint64_t>(options.rate)))};
        const std::optional<milliseconds> waits = nginx.request(now);
        const Decision decision = ask_to_wait(counter, 1, kZero + now);
        ASSERT_EQ(decision.outcome == Outcome::allowed, waits.has_value()) << step;
        if (waits) {
          ASSERT_EQ(decision.retry_after, *waits) << step;
        }
      }
    }
  }
}

// Two requests a minute are no whole number of thousandths a second there, nor is one: 16, so one in 62.5 s.
TEST(Shaper, KeepsOneAMinuteWhereLimitReqTakesLonger) {
  Counter counter{shaper(1, 60, 1, Nanoseconds{0})};
  counter.decide(1, kZero);
  EXPECT_EQ(counter.decide(1, kZero).retry_after, seconds{60});
}

}  // namespace
}  // namespace penstock::algorithm::testing
