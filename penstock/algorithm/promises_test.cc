// What the result contract promises for every algorithm, on random streams and at the edges of what Limit and Instant
// can hold.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/algorithm.h"
#include "penstock/algorithm/testing/limits.h"
#include "penstock/algorithm/testing/oracle.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

std::vector<LimitOptions> all_limits() {
  std::vector<LimitOptions> all = buckets_of_all_sizes();
  for (const bool count_refused : {false, true}) {
    for (const std::uint32_t amount : {1u, 5u, 1000u, kMost}) {
      for (const std::int64_t seconds : {std::int64_t{1}, std::int64_t{60}, Limit::kMaxWindowSeconds}) {
        all.push_back(window_options(amount, seconds, count_refused));
      }
    }
  }
  return all;
}

// Until then instants are told apart by every limit (see Limit).
constexpr Instant kLastTick = kStateEpoch + std::chrono::seconds{30 * 31'536'000LL - 2};

// About the time in which one unit comes back.
std::uint64_t unit_nanoseconds(const LimitOptions& options) {
  return static_cast<std::uint64_t>(options.window_seconds) * 1'000'000'000 / std::max(options.amount, 1u) + 1;
}

class Promises : public ::testing::TestWithParam<LimitOptions> {
 protected:
  // Calls `check(counter, random, now)` in many states of the counter, within the range of time that ticks cover.
  template <class Check>
  void in_many_states(Check check) {
    const Limit limit = Limit::create(GetParam()).value();
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      Random random{seed};
      Counter counter{limit};
      Instant now = kOddInstant;
      for (int step = 0; step < 100 && now < kOddInstant + std::chrono::years{20}; ++step) {
        now += Nanoseconds{static_cast<std::int64_t>(random.below(unit_nanoseconds(GetParam()) * 2))};
        counter.decide(random.below(3) == 0 ? random.below(std::uint64_t{limit.capacity()} + 1) : random.below(3), now);
        check(counter, random, now);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
};

TEST_P(Promises, DeniedAndLookedAtStatesAreUnchanged) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const std::uint64_t cost = random.below(std::uint64_t{counter.limit.capacity()} + 3);
    EXPECT_EQ(look(counter.limit, counter.state, now, cost).state, counter.state);
    EXPECT_EQ(decide(counter.limit, counter.state, now, 0).state, counter.state);
    const Step step = decide(counter.limit, counter.state, now, cost);
    if (step.decision.outcome == Outcome::allowed || counter.limit.counts_refused()) return;
    EXPECT_EQ(step.state, counter.state);
    EXPECT_FALSE(step.decision.charged);
  });
}

TEST_P(Promises, LookSaysWhatDecideSays) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const std::uint64_t cost = random.below(std::uint64_t{counter.limit.capacity()} + 3);
    const Decision seen = counter.look(cost, now);
    const Decision done = Counter{counter}.decide(cost, now);
    EXPECT_EQ(seen.outcome, done.outcome);
    EXPECT_EQ(seen.retry_after, done.retry_after);
    EXPECT_EQ(seen.count_before, done.count_before);
    EXPECT_FALSE(seen.charged);
  });
}

TEST_P(Promises, SameCostPassesAfterTheRetryAndNotANanosecondBefore) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const std::uint64_t cost = 1 + random.below(counter.limit.capacity());
    const Decision refused = counter.look(cost, now);
    if (refused.outcome != Outcome::denied) return;
    ASSERT_GT(refused.retry_after, Nanoseconds{0});
    if (refused.retry_after > kLastTick - now) return;
    EXPECT_EQ(counter.look(cost, now + refused.retry_after).outcome, Outcome::allowed);
    EXPECT_EQ(counter.look(cost, now + refused.retry_after - Nanoseconds{1}).outcome, Outcome::denied);
  });
}

TEST_P(Promises, CounterIsFreshAfterTheResetAndNotANanosecondBefore) {
  in_many_states([](const Counter& counter, Random&, Instant now) {
    const Decision seen = counter.look(1, now);
    const Instant fresh = now + seen.reset_after;
    if (seen.reset_after == Nanoseconds{0} || fresh == Instant::max()) return;
    EXPECT_EQ(fresh, fresh_at(counter.limit, counter.state));
    if (seen.reset_after > std::chrono::years{4}) return;
    EXPECT_EQ(counter.look(1, fresh).reset_after, Nanoseconds{0});
    EXPECT_EQ(counter.look(1, fresh).remaining, counter.limit.capacity());
    EXPECT_GT(counter.look(1, fresh - Nanoseconds{1}).reset_after, Nanoseconds{0});
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
    EXPECT_EQ(at_once.state, one_by_one.state);
  });
}

TEST_P(Promises, IdleCounterOnlyGetsBetter) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    const Nanoseconds idle{static_cast<std::int64_t>(random.below(unit_nanoseconds(GetParam())))};
    const std::uint64_t cost = 1 + random.below(counter.limit.capacity());
    const Decision before = counter.look(cost, now), after = counter.look(cost, now + idle);
    EXPECT_GE(after.remaining, before.remaining);
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
      const Decision never = counter.look(cost, now);
      EXPECT_EQ(never.outcome, Outcome::never);
      EXPECT_EQ(never.retry_after, Decision::kNever);
      EXPECT_EQ(never.remaining, counter.look(1, now).remaining);
    }
    EXPECT_NE(counter.look(counter.limit.capacity(), now).outcome, Outcome::never);
  });
}

TEST_P(Promises, RefundRestoresWhatWasChargedAndNeverMore) {
  in_many_states([](const Counter& counter, Random& random, Instant now) {
    Counter charged{counter};
    const std::uint64_t cost = 1 + random.below(counter.limit.capacity());
    if (!charged.decide(cost, now).charged) return;
    const std::uint32_t before = counter.look(1, now).remaining;
    EXPECT_EQ(charged.apply(Verb::refund, cost, now, now).remaining, before);
    EXPECT_LE(charged.apply(Verb::refund, UINT64_MAX, now, now).remaining, counter.limit.capacity());
  });
}

// Whole windows, and for buckets whole seconds, are whole numbers of ticks.
TEST_P(Promises, ShiftingAllTimesChangesNothing) {
  const Limit limit = Limit::create(GetParam()).value();
  const Nanoseconds shift = std::chrono::seconds{limit.is_window() ? 2 * limit.window_seconds() : 12'345'678};
  Random random{7};
  Counter here{limit}, there{limit};
  Instant now = kOddInstant;
  for (int step = 0; step < 200 && now < kOddInstant + std::chrono::years{20}; ++step) {
    now += Nanoseconds{static_cast<std::int64_t>(random.below(unit_nanoseconds(GetParam()) * 2))};
    const std::uint64_t cost = random.below(4);
    const Decision decision = here.decide(cost, now), shifted = there.decide(cost, now + shift);
    ASSERT_EQ(shifted.outcome, decision.outcome) << step;
    ASSERT_EQ(shifted.remaining, decision.remaining) << step;
    ASSERT_EQ(shifted.retry_after, decision.retry_after) << step;
  }
}

// The worst caller: asks at once, in pieces, and again at the very instant that it was told. Over every interval no
// more passes than: bucket: burst + rate x (interval + one tick); window: amount x (windows touched).
TEST_P(Promises, NoStreamGetsMoreThanTheBound) {
  const Limit limit = Limit::create(GetParam()).value();
  struct Admitted {
    Instant at;
    std::uint64_t cost;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random{seed};
    Counter counter{limit};
    std::vector<Admitted> admitted;
    Instant now = kOddInstant;
    for (int step = 0; step < 200 && now < kOddInstant + std::chrono::years{20}; ++step) {
      const std::uint64_t cost = random.below(3) > 0 ? 1 : 1 + random.below(limit.capacity());
      const Decision decision = counter.decide(cost, now);
      if (decision.outcome == Outcome::allowed) admitted.push_back({now, cost});
      if (decision.outcome != Outcome::denied) continue;
      if (decision.retry_after > std::chrono::years{5}) break;
      now += decision.retry_after;
    }
    for (std::size_t first = 0; first < admitted.size(); ++first) {
      Wide sum = 0;
      for (std::size_t last = first; last < admitted.size(); ++last) {
        sum += admitted[last].cost;
        const Wide interval = (admitted[last].at - admitted[first].at).count();
        const Wide window_nanoseconds = Wide{limit.window_seconds()} * 1'000'000'000;
        if (limit.is_window()) {
          ASSERT_LE(sum, limit.amount() * ((interval + window_nanoseconds - 1) / window_nanoseconds + 1)) << seed;
        } else {
          const Wide tick = limit.ticks_per_nanosecond() > 0 ? 0 : 1'000'000'000 / limit.ticks_per_second() + 1;
          const Wide refilled = limit.amount() * (interval + tick) / window_nanoseconds;
          ASSERT_LE(sum, limit.capacity() + refilled) << seed;
        }
      }
    }
  }
}

// Nothing overflows, and no answer makes no sense, at any instant and in any state, also such as nobody can have
// written.
TEST_P(Promises, EveryInstantAndStateGetsASoundAnswer) {
  const Limit limit = Limit::create(GetParam()).value();
  std::vector<Instant> instants = {Instant::min(), Instant{},   instant_from_unix_seconds(1'577'836'800),
                                   kStateEpoch,    kOddInstant, instant_from_unix_seconds(2'650'838'400),
                                   Instant::max()};
  for (const int years : {29, 30, 60, 68, 69, 100, 200}) instants.push_back(kStateEpoch + std::chrono::years{years});
  Random random{11};
  for (const Instant now : instants) {
    std::vector<State> states = {{}, {1}, {UINT64_MAX}, {UINT64_MAX >> 1}, {std::uint64_t{1} << 63}};
    for (int i = 0; i < 20; ++i) states.push_back({random.next() >> random.below(64)});
    for (const State state : states) {
      for (const Verb verb : {Verb::decide, Verb::look, Verb::refund, Verb::debit}) {
        for (const std::uint64_t cost : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kMost}, UINT64_MAX}) {
          const Step step = apply(limit, verb, state, now, cost, now);
          ASSERT_LE(step.decision.remaining, limit.capacity());
          ASSERT_GE(step.decision.reset_after, Nanoseconds{0});
          ASSERT_EQ(step.decision.outcome == Outcome::denied, step.decision.retry_after > Nanoseconds{0});
          ASSERT_EQ(step.decision.outcome == Outcome::never, step.decision.retry_after == Decision::kNever);
        }
      }
      ASSERT_GE(fresh_at(limit, state), kStateEpoch);
      static_cast<void>(used_share(limit, state, now));
      static_cast<void>(rebuild(limit, fresh_at(limit, state), now));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, Promises, ::testing::ValuesIn(all_limits()));

TEST(Promises, AnInstantBefore2025CountsAsItsFirst) {
  const Instant early = instant_from_unix_seconds(1'577'836'800) + Nanoseconds{1};
  for (const Limit& limit : {gcra(1, 1, 5), window(5, 60)}) {
    Counter counter{limit};
    EXPECT_EQ(counter.admitted(6, early), 5u);
    EXPECT_EQ(counter.look(1, kStateEpoch).outcome, Outcome::denied);
    const Decision refused = counter.look(1, early);
    EXPECT_EQ(counter.look(1, early + refused.retry_after).outcome, Outcome::allowed);
  }
}

TEST(Promises, RatesStillHoldIn2054) {
  const Instant late = instant_from_unix_seconds(2'650'838'400) + Nanoseconds{1};
  for (const Limit& limit : {gcra(999'983, 1, 10), gcra(kMost, 1, 10), gcra(7, 60, 10), window(10, 1)}) {
    Counter counter{limit};
    EXPECT_EQ(counter.admitted(12, late), 10u) << limit.amount();
    const Decision refused = counter.look(10, late);
    EXPECT_EQ(counter.admitted(12, late + refused.retry_after), 10u) << limit.amount();
  }
}

TEST(Promises, SoakOfADayAdmitsExactlyBurstPlusRate) {
  Counter counter{gcra(7, 60, 5)};
  std::uint64_t admitted = 0;
  Instant now = kOddInstant;
  const Instant end = now + std::chrono::hours{24};
  while (now <= end) {
    const Decision decision = counter.decide(1, now);
    if (decision.outcome == Outcome::allowed) {
      ++admitted;
    } else {
      now += decision.retry_after;
    }
  }
  EXPECT_EQ(admitted, 5u + 7u * 60 * 24);
}

}  // namespace
}  // namespace penstock::algorithm::testing
