// What the result contract promises for every algorithm, on random streams.

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/families.h"
#include "penstock/algorithm/testing/limits.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

// Until then instants are told apart by every limit (see Limit).
constexpr Instant kLastTick = kStateEpoch + std::chrono::seconds{30 * kYearSeconds - 2};

// A look and a refused ask may leave a log in another writing, but not in another state.
bool same_state(const Counter& a, const Counter& b, Instant now) {
  if (!a.limit.is_log()) return a.state == b.state;
  return a.look(1, now) == b.look(1, now) && a.fresh_at() == b.fresh_at();
}

int share(const Counter& counter, Instant now) { return used_share(counter.limit, counter.state, now); }

Nanoseconds up_to_two_units(Random& random, const Limit& limit) {
  return Nanoseconds{static_cast<std::int64_t>(random.below(unit_nanoseconds(limit) * 2))};
}

class Promises : public FamilyTest {
 protected:
  // Calls `check(counter, random, now)` in many states of a counter of each limit, within the range of time that ticks
  // cover.
  template <class Check>
  static void in_many_states(Check check) {
    for_each_limit([&](const LimitOptions& options) {
      const Limit limit = Limit::create(options).value();
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        Random random{seed};
        Counter counter{limit};
        Instant now = kOddInstant;
        for (int step = 0; step < 100 && now < kOddInstant + std::chrono::years{20}; ++step) {
          now += up_to_two_units(random, limit);
          const bool large = random.below(3) == 0;
          counter.ask({.accepts_wait = random.below(2) == 0,
                       .cost = large ? random.below(std::uint64_t{limit.capacity()} + 1) : random.below(3),
                       .now = now});
          check(counter, random, now);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    });
  }
};

TEST_P(Promises, DeniedAndLookedAtStatesAreUnchanged) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const std::uint64_t cost = random.below(std::uint64_t{counter.limit.capacity()} + 3);
    Counter looked{counter}, peeked{counter}, asked{counter};
    looked.state = looked.step({.verb = Verb::look, .cost = cost, .now = now}).state;
    EXPECT_TRUE(same_state(looked, counter, now));
    peeked.decide(0, now);
    EXPECT_TRUE(same_state(peeked, counter, now));
    const Decision decision = asked.decide(cost, now);
    if (decision.outcome == Outcome::allowed || counter.limit.counts_refused()) return;
    EXPECT_TRUE(same_state(asked, counter, now));
    EXPECT_FALSE(decision.charged);
  });
}

TEST_P(Promises, LookSaysWhatDecideSays) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const std::uint64_t cost = random.below(std::uint64_t{counter.limit.capacity()} + 3);
    for (const bool accepts_wait : {false, true}) {
      const Ask look = {.verb = Verb::look, .accepts_wait = accepts_wait, .cost = cost, .now = now};
      Ask decide = look;
      decide.verb = Verb::decide;
      const Decision seen = counter.step(look).decision;
      const Decision done = Counter{counter}.ask(decide);
      EXPECT_EQ(seen.outcome, done.outcome);
      EXPECT_EQ(seen.count_before, done.count_before);
      EXPECT_FALSE(seen.charged);
      const bool counted = done.refused() && done.charged;
      if (!counted) {
        EXPECT_EQ(seen.retry_after, done.retry_after);
      }
    }
  });
}

TEST_P(Promises, SameCostPassesAfterTheRetryAndNotANanosecondBefore) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const std::uint64_t cost = 1 + random.below(counter.limit.capacity());
    Counter asked{counter};
    const Decision refused = asked.decide(cost, now);
    if (refused.outcome != Outcome::denied) return;
    ASSERT_GT(refused.retry_after, Nanoseconds{0});
    if (refused.retry_after > kLastTick - now) return;
    EXPECT_EQ(asked.look(cost, now + refused.retry_after).outcome, Outcome::allowed);
    EXPECT_EQ(asked.look(cost, now + refused.retry_after - Nanoseconds{1}).outcome, Outcome::denied);
  });
}

TEST_P(Promises, CounterIsFreshAfterTheResetAndNotANanosecondBefore) {
  in_many_states([](const Counter& counter, Random&, Instant now) {
    const Decision seen = counter.look(1, now);
    const Instant fresh = now + seen.reset_after;
    if (seen.reset_after == Nanoseconds{0} || fresh == Instant::max()) return;
    EXPECT_EQ(fresh, counter.fresh_at());
    if (fresh > kLastTick) return;
    EXPECT_EQ(counter.look(1, fresh).reset_after, Nanoseconds{0});
    EXPECT_EQ(counter.look(1, fresh).remaining, counter.limit.capacity());
    EXPECT_GT(counter.look(1, fresh - Nanoseconds{1}).reset_after, Nanoseconds{0});
    if (!counter.limit.is_bucket()) return;
    EXPECT_EQ(share(counter, fresh), 0);
    EXPECT_GT(share(counter, fresh - Nanoseconds{1}), 0);
  });
}

TEST_P(Promises, WhatRemainsIsAdmittedAndNotOneMore) {
  in_many_states([](const Counter& counter, Random&, Instant now) {
    const std::uint32_t remaining = counter.look(1, now).remaining;
    ASSERT_LE(remaining, counter.limit.capacity());
    if (remaining > 0) {
      EXPECT_EQ(counter.look(remaining, now).outcome, Outcome::allowed);
    }
    EXPECT_NE(counter.look(std::uint64_t{remaining} + 1, now).outcome, Outcome::allowed);
    if (counter.limit.is_bucket()) {
      EXPECT_EQ(share(counter, now) == 255, remaining == 0);
    }
  });
}

TEST_P(Promises, ManyAtOnceAndOneByOneAdmitTheSame) {
  in_many_states([](const Counter& counter, Random&, Instant now) {
    const std::uint32_t remaining = counter.look(1, now).remaining;
    if (remaining > 200) return;
    Counter one_by_one{counter};
    EXPECT_EQ(one_by_one.admitted(remaining + 1, now), remaining);
    Counter at_once{counter};
    if (remaining == 0 || counter.limit.counts_refused()) return;
    at_once.decide(remaining, now);
    EXPECT_TRUE(same_state(at_once, one_by_one, now));
  });
}

TEST_P(Promises, IdleCounterOnlyGetsBetter) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const Nanoseconds idle = up_to_two_units(random, counter.limit);
    const std::uint64_t cost = 1 + random.below(counter.limit.capacity());
    if (now + idle > kLastTick) return;
    const Decision before = counter.look(cost, now), after = counter.look(cost, now + idle);
    EXPECT_GE(after.remaining, before.remaining);
    EXPECT_LE(after.count_before, before.count_before);
    if (counter.limit.is_bucket()) {
      EXPECT_LE(share(counter, now + idle), share(counter, now));
    }
    const Nanoseconds none{0};
    if (before.retry_after < Instant::max() - now - idle) {
      EXPECT_EQ(after.retry_after, std::max(before.retry_after - idle, none));
    }
    if (before.reset_after < Instant::max() - now - idle) {
      EXPECT_EQ(after.reset_after, std::max(before.reset_after - idle, none));
    }
  });
}

TEST_P(Promises, CostAboveTheCapacityIsNever) {
  in_many_states([](const Counter& counter, Random&, Instant now) {
    for (const std::uint64_t cost : {std::uint64_t{counter.limit.capacity()} + 1, UINT64_MAX}) {
      const Decision never =
          counter.step({.verb = Verb::look, .accepts_wait = true, .cost = cost, .now = now}).decision;
      EXPECT_EQ(never.outcome, Outcome::never);
      EXPECT_EQ(never.retry_after, Decision::kNever);
      EXPECT_EQ(never.remaining, counter.look(1, now).remaining);
      EXPECT_EQ(never.reset_after, counter.look(1, now).reset_after);
    }
    EXPECT_NE(counter.look(counter.limit.capacity(), now).outcome, Outcome::never);
  });
}

TEST_P(Promises, RefundRestoresWhatWasChargedAndNeverMore) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    Counter charged{counter};
    const std::uint64_t cost = 1 + random.below(counter.limit.capacity());
    if (charged.decide(cost, now).outcome != Outcome::allowed) return;
    const std::uint32_t before = counter.look(1, now).remaining;
    EXPECT_EQ(charged.refund(cost, now, now).remaining, before);
    EXPECT_LE(charged.refund(UINT64_MAX, now, now).remaining, counter.limit.capacity());
    EXPECT_LE(charged.admitted(300, now), counter.limit.capacity());
  });
}

TEST_P(Promises, WhoWaitsAsLongAsToldIsAdmittedAndNobodyElse) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const std::uint64_t cost = 1 + random.below(counter.limit.capacity());
    const Decision now_or_not = counter.look(cost, now);
    Counter waiting{counter};
    const Decision decision = waiting.ask({.accepts_wait = true, .cost = cost, .now = now});
    if (now_or_not.outcome == Outcome::allowed) {
      EXPECT_EQ(decision, Counter{counter}.decide(cost, now));
    } else if (now_or_not.retry_after <= counter.limit.max_wait()) {
      EXPECT_EQ(decision.outcome, Outcome::allowed);
      EXPECT_EQ(decision.retry_after, now_or_not.retry_after);
      EXPECT_TRUE(decision.charged);
      EXPECT_EQ(waiting.look(1, now).outcome, Outcome::denied) << "the wait is from the same state";
    } else {
      EXPECT_EQ(decision.outcome, Outcome::denied);
    }
  });
}

TEST_P(Promises, RefusedCostIsDebitedWhereItCountsAndNowhereElse) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const std::uint64_t cost = 1 + random.below(std::uint64_t{counter.limit.capacity()} + 2);
    Counter asked{counter}, debited{counter};
    const Decision refused = asked.decide(cost, now);
    if (!refused.refused()) return;
    if (!counter.limit.counts_refused()) {
      EXPECT_FALSE(refused.charged);
      EXPECT_TRUE(same_state(asked, counter, now));
      return;
    }
    const Decision debit = debited.debit(cost, now);
    EXPECT_EQ(debit.charged, !same_state(debited, counter, now));
    EXPECT_EQ(refused.remaining, debit.remaining);
    if (counter.limit.is_log()) {  // there the cost takes the place of the oldest
      EXPECT_GE(refused.reset_after, debit.reset_after);
      return;
    }
    EXPECT_EQ(refused.charged, debit.charged);
    EXPECT_TRUE(same_state(asked, debited, now));
    EXPECT_EQ(refused.reset_after, debit.reset_after);
    if (refused.outcome == Outcome::denied) {
      EXPECT_EQ(refused.retry_after, debited.look(cost, now).retry_after);
    }
  });
}

// Whole windows, and for buckets whole seconds, are whole numbers of ticks.
TEST_P(Promises, ShiftingAllTimesChangesNothing) {
  for_each_limit([](const LimitOptions& options) {
    const Limit limit = Limit::create(options).value();
    const Nanoseconds shift = std::chrono::seconds{limit.is_window() ? 2 * limit.window_seconds() : 12'345'678};
    Random random{7};
    Counter here{limit}, there{limit};
    Instant now = kOddInstant;
    for (int step = 0; step < 200 && now < kOddInstant + std::chrono::years{20}; ++step) {
      now += up_to_two_units(random, limit);
      const std::uint64_t cost = random.below(4);
      const Decision decision = here.decide(cost, now), shifted = there.decide(cost, now + shift);
      ASSERT_EQ(shifted.outcome, decision.outcome) << step;
      ASSERT_EQ(shifted.remaining, decision.remaining) << step;
      ASSERT_EQ(shifted.retry_after, decision.retry_after) << step;
    }
  });
}

// Waits are the least whole nanosecond, so the scaled one may be shorter by less than the scale.
void expect_scaled(const Decision& scaled, const Decision& decision, int scale) {
  ASSERT_EQ(scaled.outcome, decision.outcome);
  ASSERT_EQ(scaled.remaining, decision.remaining);
  ASSERT_LE(scaled.reset_after, scale * decision.reset_after);
  ASSERT_GT(scaled.reset_after + Nanoseconds{scale}, scale * decision.reset_after);
  if (decision.outcome == Outcome::never) return;
  ASSERT_LE(scaled.retry_after, scale * decision.retry_after);
  ASSERT_GT(scaled.retry_after + Nanoseconds{scale}, scale * decision.retry_after);
}

// With ticks that a nanosecond holds a whole number of, in a stream that starts at a boundary of both windows.
TEST_P(Promises, ScalingAllTimesScalesTheWaits) {
  for_each_limit([](const LimitOptions& options) {
    constexpr int kScale = 3;
    LimitOptions slow_options = options;
    slow_options.window_seconds *= kScale;
    slow_options.max_wait *= kScale;
    if (slow_options.peak) slow_options.peak->window_seconds *= kScale;
    if (slow_options.window_seconds > 2 * kYearSeconds || slow_options.max_wait > Limit::kMaxWait) return;
    if (!has_whole_ticks(options) || !has_whole_ticks(slow_options)) return;
    if (options.spread_windows) return;  // an offset does not scale to the nanosecond
    const std::int64_t boundary = (1'800'000'000 / slow_options.window_seconds + 1) * slow_options.window_seconds;
    const Instant start = instant_from_unix_seconds(boundary);
    Random random{13};
    Counter quick{Limit::create(options).value()}, slow{Limit::create(slow_options).value()};
    Nanoseconds at{0};
    for (int step = 0; step < 200 && at < std::chrono::years{2}; ++step) {
      at += up_to_two_units(random, quick.limit);
      Ask ask = {.accepts_wait = random.below(2) == 0, .cost = random.below(4), .now = start + at};
      const Decision decision = quick.ask(ask);
      ask.now = start + kScale * at;
      expect_scaled(slow.ask(ask), decision, kScale);
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Limits, Promises, ::testing::ValuesIn(families()), name_of);

}  // namespace
}  // namespace penstock::algorithm::testing
