// What shipped limiters got wrong: each as a scenario that fails there. Two of the list have none here: Kong clears its
// local counts before the push to Redis that may fail (there is no shared store yet), and redis-cell takes a negative
// quantity (a cost is unsigned; protocol/json_decode_test.cc has what a request may hold).

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/families.h"
#include "penstock/algorithm/testing/limits.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// redis-cell multiplies the interval with the burst unchecked.
TEST(Defects, IntervalTimesBurstDoesNotOverflow) {
  Counter counter{gcra(1, kYearSeconds, kMost)};
  EXPECT_EQ(counter.decide(1000, kZero).remaining, kMost - 1000);
  EXPECT_EQ(counter.decide(kMost, kZero).outcome, Outcome::denied);
  EXPECT_EQ(counter.decide(std::uint64_t{kMost} + 1, kZero).outcome, Outcome::never);
}

// redis-cell says "in 0 seconds" to a refusal that lasts less than a millisecond, and divides by zero above a million
// a second.
TEST(Defects, RefusalNeverSaysToComeBackAtOnce) {
  for (const Limit& limit : {gcra(8'000, 1, 1), gcra(999'983, 1, 1), gcra(4'000'000'000, 1, 1), sliding_log(1000, 1),
                             sliding_window(999'983, 1), window(3, 1)}) {
    Counter counter{limit};
    counter.debit(limit.capacity(), kOddInstant);
    const Decision refused = counter.decide(1, kOddInstant);
    EXPECT_EQ(refused.outcome, Outcome::denied);
    EXPECT_GT(refused.retry_after, Nanoseconds{0});
    EXPECT_EQ(counter.decide(1, kOddInstant + refused.retry_after).outcome, Outcome::allowed);
  }
}

// redis-cell was wrong below one a second.
TEST(Defects, RatesBelowOneASecondAreKept) {
  Counter counter{gcra(1, 3'600, 1)};
  counter.decide(1, kZero);
  EXPECT_EQ(counter.decide(1, kZero + seconds{1}).retry_after, seconds{3'599});
}

// redis_rate and redis-gcra count seconds since 2017 in doubles: at that instant ten at once pass only nine times, and
// 7919 a second are 7917.
TEST(Defects, WholeBurstPassesAtEveryInstant) {
  const Instant then = instant_from_unix_seconds(1'483'228'800 + 280'000'000) + Nanoseconds{123'457'000};
  Counter ten{gcra(10, 1, 10)};
  EXPECT_EQ(ten.admitted(20, then), 10u);
  Counter many{gcra(7'919, 1, 7'919)};
  EXPECT_EQ(many.admitted(8'000, then), 7'919u);
}

// redis-gcra rounds the remaining up.
TEST(Defects, WhatRemainsIsRoundedDown) {
  Counter counter{gcra(1, 1, 5)};
  counter.admitted(5, kZero);
  EXPECT_EQ(counter.look(1, kZero + milliseconds{999}).remaining, 0u);
  EXPECT_EQ(counter.look(1, kZero + milliseconds{1999}).remaining, 1u);
}

// A candidate for Redis rounded the interval to microseconds: 600,000 a second became 500,000, 700,000 a million.
TEST(Defects, IntervalIsNotRounded) {
  for (const std::uint32_t rate : {600'000u, 667'000u, 700'000u}) {
    Counter counter{gcra(rate, 1, 10)};
    std::uint32_t admitted = 0;
    Instant now = kZero;
    while (now < kZero + milliseconds{100}) {
      const Decision decision = counter.decide(1, now);
      admitted += decision.outcome == Outcome::allowed;
      now += decision.retry_after;
    }
    const std::uint32_t expected = rate / 10 + 10;
    EXPECT_NEAR(admitted, expected, 5) << rate;
  }
}

// The same forgot debt of less than a millisecond.
TEST(Defects, DebtOfLessThanAMillisecondIsKept) {
  Counter counter{gcra(10'000, 1, 1)};
  counter.decide(1, kOddInstant);
  EXPECT_EQ(fresh_at(counter.limit, counter.state), kOddInstant + std::chrono::microseconds{100});
  EXPECT_EQ(counter.decide(1, kOddInstant + std::chrono::microseconds{99}).outcome, Outcome::denied);
}

// upstash refuses a token bucket only at zero: cost 4 of 10 leaves 6, 2, -2, -6.
TEST(Defects, CostThatDoesNotFitIsRefusedAndNotOwed) {
  for (const Limit& limit : {gcra(1, 60, 10), window(10, 60), sliding_window(10, 60), sliding_log(10, 60)}) {
    Counter counter{limit};
    std::vector<std::uint32_t> remaining;
    for (int hit = 0; hit < 6; ++hit) remaining.push_back(counter.decide(4, kZero).remaining);
    EXPECT_EQ(remaining, (std::vector<std::uint32_t>{6, 2, 2, 2, 2, 2})) << to_string(limit.algorithm());
    EXPECT_EQ(counter.decide(2, kZero).outcome, Outcome::allowed);
  }
}

// upstash leaves the cost out of a sliding window's test, and counts what it refused.
TEST(Defects, SlidingWindowTestsTheCostAndForgetsWhatItRefused) {
  Counter counter{sliding_window(10, 60)};
  EXPECT_EQ(counter.decide(7, kZero).remaining, 3u);
  EXPECT_EQ(counter.decide(7, kZero).outcome, Outcome::denied);
  EXPECT_EQ(counter.look(1, kZero).count_before, 7u);
  EXPECT_EQ(counter.decide(3, kZero).outcome, Outcome::allowed);
}

// upstash's cached window, INCR without EXPIRE, and a published sample never expire; a gist's lifetime of
// floor(2 * 1 / 1000) seconds does at once.
TEST(Defects, EveryCounterIsFreshAtSomeInstantAndNoSooner) {
  for (const Family& family : families()) {
    for (const LimitOptions& options : family.limits) {
      if (options.window_seconds > kYearSeconds || options.burst > 1'000'000) continue;
      SCOPED_TRACE(::testing::PrintToString(options));
      Counter counter{Limit::create(options).value()};
      const Decision decision = counter.decide(1, kOddInstant);
      EXPECT_GT(decision.reset_after, Nanoseconds{0});
      const Instant fresh = kOddInstant + decision.reset_after;
      EXPECT_LE(fresh, kOddInstant + std::chrono::years{2});
      EXPECT_GT(counter.look(1, fresh - Nanoseconds{1}).reset_after, Nanoseconds{0});
      EXPECT_EQ(counter.look(1, fresh).reset_after, Nanoseconds{0});
    }
  }
  Counter quick{gcra(1'000, 1, 1)};
  EXPECT_EQ(quick.admitted(10, kOddInstant), 1u);
  EXPECT_EQ(quick.admitted(10, kOddInstant + std::chrono::microseconds{999}), 0u);
}

// lua-resty-limit-traffic's counter falls below zero on refusals; a refused hit must not lengthen the wait.
TEST(Defects, RefusalsDoNotLengthenTheWait) {
  for (const Limit& limit : {gcra(5, 10, 5), window(5, 10), sliding_window(5, 10), sliding_log(5, 10)}) {
    Counter counter{limit};
    counter.admitted(5, kZero);
    const Decision first = counter.decide(1, kZero);
    counter.admitted(1'000, kZero);
    EXPECT_EQ(counter.decide(1, kZero).retry_after, first.retry_after) << to_string(limit.algorithm());
    EXPECT_EQ(counter.decide(1, kZero + first.retry_after).outcome, Outcome::allowed);
  }
}

// The same takes the distance in time without its sign: a step back refills.
TEST(Defects, ClockThatStepsBackRefillsNothing) {
  for (const Limit& limit : {gcra(10, 1, 10), sliding_window(10, 1), sliding_log(10, 1), window(10, 1)}) {
    Counter counter{limit};
    EXPECT_EQ(counter.admitted(20, kZero), 10u);
    EXPECT_EQ(counter.admitted(20, kZero - milliseconds{500}), 0u) << to_string(limit.algorithm());
    EXPECT_EQ(counter.admitted(20, kZero), 0u) << to_string(limit.algorithm());
  }
}

// Gubernator truncates the rate to whole numbers in the reset, and its token bucket is an anchored window: everything
// comes back at once.
TEST(Defects, TokensComeBackOneByOne) {
  LimitOptions options = gcra_options(7, 60, 7);
  options.algorithm = Algorithm::token_bucket;
  Counter counter{Limit::create(options).value()};
  EXPECT_EQ(counter.decide(7, kZero).reset_after, seconds{60});
  for (int token = 1; token <= 7; ++token) {
    const Instant back = kZero + Nanoseconds{(60'000'000'000 * token + 6) / 7};
    EXPECT_EQ(counter.look(1, back).remaining, static_cast<std::uint32_t>(token));
    EXPECT_EQ(counter.look(1, back - Nanoseconds{1}).remaining, static_cast<std::uint32_t>(token - 1));
  }
}

// A limiter that takes its callers' clocks gives skew x rate for nothing at each turn, or sticks to a far instant.
TEST(Defects, CallersWhoseClocksDifferGetNothingForIt) {
  for (const Limit& limit :
       {gcra(100, 1, 10), gcra(gcra_options(100, 1, 100), {20, 1, 10}), window(100, 1), window(100, 1, true),
        sliding_window(100, 1), sliding_log(100, 1), shaper(100, 1, 10, seconds{1})}) {
    SCOPED_TRACE(to_string(limit.algorithm()));
    Counter alone{limit}, shared{limit};
    std::uint32_t by_one_clock = 0, by_two = 0;
    for (int turn = 0; turn < 100; ++turn) {
      const Instant now = kZero + milliseconds{10} * turn;
      by_one_clock += alone.admitted(100, now);
      by_two += shared.admitted(50, now) + shared.admitted(50, now - milliseconds{200});
    }
    EXPECT_LE(by_two, by_one_clock);
    EXPECT_EQ(by_two > 0, by_one_clock > 0);
    Counter stuck{limit};
    stuck.debit(limit.capacity(), kZero + std::chrono::hours{1'000});
    stuck.decide(1, kZero);
    EXPECT_EQ(stuck.decide(1, kZero + seconds{3}).outcome, Outcome::allowed) << "for two windows at most";
  }
}

}  // namespace
}  // namespace penstock::algorithm::testing
