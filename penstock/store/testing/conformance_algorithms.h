#pragma once

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "penstock/store/testing/conformance.h"

// What a store must know of algorithms: two words, windows of a counter's own, callers who wait. See conformance.h.

namespace penstock::store::testing {

using algorithm::Algorithm;
using algorithm::Decision;
using algorithm::Limit;
using algorithm::LimitOptions;
using algorithm::Outcome;
using algorithm::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

[[nodiscard]] inline Limit sliding_window(std::uint32_t amount, std::int64_t window_seconds) {
  return Limit::create({.algorithm = Algorithm::sliding_window, .amount = amount, .window_seconds = window_seconds})
      .value();
}

// A hundred a minute and ten a second.
[[nodiscard]] inline Limit with_peak() {
  return Limit::create({.algorithm = Algorithm::gcra,
                        .amount = 100,
                        .window_seconds = 60,
                        .burst = 100,
                        .peak = algorithm::PeakOptions{.amount = 10, .window_seconds = 1, .burst = 10}})
      .value();
}

// Ten a second, evenly; who can wait does so for 350 ms.
[[nodiscard]] inline Limit shaper() {
  return Limit::create({.algorithm = Algorithm::leaky_bucket, .amount = 10, .burst = 1, .max_wait = milliseconds{350}})
      .value();
}

[[nodiscard]] inline Charge waiting(Charge charge) {
  charge.accepts_wait = true;
  return charge;
}

TEST_P(StoreConformance, SlidingWindowKeepsBothCounts) {
  const Limit limit = sliding_window(100, 60);
  const Instant minute = instant_from_unix_seconds(1'772'600'760);
  const Charge many = charge("k", limit, 50), one = charge("k", limit, 1);
  EXPECT_EQ(decide(many, minute).remaining, 50u);
  EXPECT_EQ(decide(charge("k", limit, 10), minute + seconds{66}).remaining, 45u);
  EXPECT_EQ(remaining(one, minute + seconds{90}), 65u);
  Charge back = many;
  back.charged_at = minute;
  EXPECT_EQ(apply(Verb::refund, back, minute + seconds{90}).remaining, 90u);
  EXPECT_EQ(remaining(one, minute + seconds{179}), 99u);
  EXPECT_EQ(remaining(one, minute + seconds{180}), 100u);
}

TEST_P(StoreConformance, PeakAndRateAreBothKept) {
  const Limit limit = with_peak();
  std::uint64_t admitted = 0;
  for (int second = 0; second < 20; ++second) {
    for (int hit = 0; hit < 20; ++hit) {
      const Decision decision = decide(charge("k", limit, 1), kStart + seconds{second});
      admitted += decision.outcome == Outcome::allowed;
      if (second < 10) {
        EXPECT_EQ(decision.outcome == Outcome::allowed, hit < 10) << second << " " << hit;
      }
    }
  }
  EXPECT_EQ(admitted, 131u) << "a hundred and what comes back in 19 seconds";
}

TEST_P(StoreConformance, PeakThatComesAndGoesForgetsNoDebt) {
  const Limit plain = gcra(100, 60, 100), limit = with_peak();
  EXPECT_EQ(decide(charge("k", plain, 95), kStart).remaining, 5u);
  EXPECT_LE(remaining(charge("k", limit, 0), kStart), 5u);
  EXPECT_LE(decide(charge("k", limit, 1), kStart).remaining, 4u);
  EXPECT_LE(remaining(charge("k", plain, 0), kStart + seconds{1}), 6u);
}

// Refused cost that counts is debited, clamped at empty.
TEST_P(StoreConformance, BucketThatCountsRefusedCostIsEmptiedByIt) {
  const Limit limit =
      Limit::create({.algorithm = Algorithm::token_bucket, .amount = 1, .burst = 5, .count_refused = true}).value();
  EXPECT_EQ(decide(charge("k", limit, 3), kStart).remaining, 2u);
  const Decision refused = decide(charge("k", limit, 3), kStart);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.remaining, 0u);
  EXPECT_EQ(refused.retry_after, seconds{3});
  EXPECT_EQ(decide(charge("k", limit, 3), kStart + seconds{2}).outcome, Outcome::denied);
  EXPECT_EQ(remaining(charge("k", limit, 0), kStart + seconds{4}), 2u);
}

TEST_P(StoreConformance, SpreadWindowsAreAWindowLongAndBeginWhereNoOthersDo) {
  const Limit limit =
      Limit::create({.algorithm = Algorithm::fixed_window, .amount = 5, .window_seconds = 60, .spread_windows = true})
          .value();
  std::set<Nanoseconds> ends;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    const Charge all = charge(name, limit, 5), one = charge(name, limit, 1);
    const Nanoseconds left = decide(all, kStart).reset_after;
    ends.insert(left);
    EXPECT_GT(left, Nanoseconds{0}) << name;
    EXPECT_LE(left, seconds{60}) << name;
    const Instant begin = kStart + left;
    EXPECT_EQ(decide(one, begin - tick()).outcome, Outcome::denied) << name;
    EXPECT_EQ(decide(all, begin).reset_after, seconds{60}) << name;
    EXPECT_EQ(decide(one, begin + seconds{60} - tick()).outcome, Outcome::denied) << name;
    EXPECT_EQ(decide(one, begin + seconds{60}).outcome, Outcome::allowed) << name;
  }
  EXPECT_EQ(ends.size(), 6u);
}

TEST_P(StoreConformance, SpreadSlidingWindowCountsFromItsOwnBoundary) {
  const Limit limit =
      Limit::create({.algorithm = Algorithm::sliding_window, .amount = 5, .window_seconds = 60, .spread_windows = true})
          .value();
  const Charge all = charge("k", limit, 5), one = charge("k", limit, 1);
  const Instant begin = kStart + decide(all, kStart).reset_after - seconds{60};
  EXPECT_EQ(decide(one, begin).outcome, Outcome::denied);
  EXPECT_EQ(remaining(one, begin + seconds{12} - tick()), 0u);
  EXPECT_EQ(remaining(one, begin + seconds{12}), 1u);
  EXPECT_EQ(remaining(one, begin + seconds{60}), 5u);
}

TEST_P(StoreConformance, RefundGoesToTheSpreadWindowThatWasCharged) {
  const Limit limit =
      Limit::create({.algorithm = Algorithm::fixed_window, .amount = 5, .window_seconds = 60, .spread_windows = true})
          .value();
  const Instant begin = kStart + decide(charge("k", limit, 1), kStart).reset_after;
  decide(charge("k", limit, 4), begin);
  Charge back = charge("k", limit, 2);
  back.charged_at = begin - tick();
  EXPECT_EQ(apply(Verb::refund, back, begin + seconds{1}).remaining, 1u) << "that window is over";
  back.charged_at = begin;
  EXPECT_EQ(apply(Verb::refund, back, begin + seconds{1}).remaining, 3u);
  back.charged_at = Instant::max();
  EXPECT_EQ(apply(Verb::refund, back, begin + seconds{1}).remaining, 5u);
}

TEST_P(StoreConformance, WhoCanWaitIsAdmittedWithTheWaitAndOthersAreRefused) {
  const Limit limit = shaper();
  const Charge one = charge("k", limit, 1);
  for (const int wait : {0, 100, 200, 300}) {
    const Decision decision = decide(waiting(one), kStart);
    EXPECT_EQ(decision.outcome, Outcome::allowed) << wait;
    EXPECT_TRUE(decision.charged);
    EXPECT_EQ(decision.retry_after, milliseconds{wait});
  }
  EXPECT_EQ(decide(waiting(one), kStart).outcome, Outcome::denied);
  EXPECT_EQ(decide(one, kStart + milliseconds{399}).outcome, Outcome::denied);
  EXPECT_EQ(decide(one, kStart + milliseconds{400}).outcome, Outcome::allowed);
}

TEST_P(StoreConformance, GroupThatIsRefusedDoesNotBlameWhoWouldHaveWaited) {
  const Limit limit = shaper(), none = window(0, 60);
  const Charge one = waiting(charge("k", limit, 1));
  decide(one, kStart);
  const auto decisions =
      submit({{.mode = GroupMode::all_or_nothing, .charges = {one, charge("none", none, 1)}}}, kStart);
  EXPECT_EQ(decisions[0].outcome, Outcome::allowed);
  EXPECT_EQ(decisions[0].retry_after, milliseconds{100});
  EXPECT_FALSE(decisions[0].charged);
  EXPECT_EQ(decisions[1].outcome, Outcome::never);
  EXPECT_EQ(decide(one, kStart).retry_after, milliseconds{100}) << "nothing was charged";
}

TEST_P(StoreConformance, GroupOfAllAlgorithmsIsChargedAsOneOrNotAtAll) {
  const Limit fixed = window(5, 60), bucket = gcra(5, 60, 5), sliding = sliding_window(5, 60), log = sliding_log(5, 60),
              peak = with_peak();
  const auto all = [&](std::uint64_t cost) {
    return submit(
        {{.mode = GroupMode::all_or_nothing,
          .charges = {charge("fixed", fixed, cost), charge("bucket", bucket, cost), charge("sliding", sliding, cost),
                      charge("log", log, cost), charge("peak", peak, cost)}}},
        kStart);
  };
  for (const Decision& decision : all(3)) {
    EXPECT_EQ(decision.outcome, Outcome::allowed);
    EXPECT_TRUE(decision.charged);
  }
  const auto refused = all(3);
  for (const Decision& decision : refused) EXPECT_FALSE(decision.charged);
  EXPECT_EQ(refused[4].outcome, Outcome::allowed) << "seven remain of the peak";
  EXPECT_EQ(refused[4].remaining, 7u);
  for (const Decision& decision : all(2)) EXPECT_TRUE(decision.charged);
}

}  // namespace penstock::store::testing
