// Every limit at the edges of what Limit, Instant and State can hold.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/sliding_log.h"
#include "penstock/algorithm/testing/families.h"
#include "penstock/algorithm/testing/limits.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class Extremes : public FamilyTest {};

void expect_sound(const Limit& limit, State state, const Ask& ask) {
  const Step step = apply(limit, state, ask);
  ASSERT_LE(step.decision.remaining, limit.capacity());
  ASSERT_GE(step.decision.reset_after, Nanoseconds{0});
  ASSERT_EQ(step.decision.outcome == Outcome::denied, step.decision.retry_after > Nanoseconds{0});
  ASSERT_EQ(step.decision.outcome == Outcome::never, step.decision.retry_after == Decision::kNever);
  const Decision waiting = apply(limit, step.state, {.accepts_wait = true, .cost = ask.cost, .now = ask.now}).decision;
  ASSERT_LE(waiting.remaining, limit.capacity());
  if (waiting.outcome == Outcome::allowed) {
    ASSERT_LE(waiting.retry_after, limit.max_wait());
  }
}

// Nothing overflows, and no answer makes no sense, at any instant and in any state, also such as nobody can have
// written. (A log's state comes with its entries, which only its keeper writes.)
TEST_P(Extremes, EveryInstantAndStateGetsASoundAnswer) {
  std::vector<Instant> instants = {Instant::min(), Instant{},   instant_from_unix_seconds(1'577'836'800),
                                   kStateEpoch,    kOddInstant, instant_from_unix_seconds(2'650'838'400),
                                   Instant::max()};
  for (const int years : {29, 30, 60, 68, 69, 100, 200}) instants.push_back(kStateEpoch + std::chrono::years{years});
  Random random{11};
  std::vector<std::uint64_t> words = {0, 1, UINT64_MAX, UINT64_MAX >> 1, std::uint64_t{1} << 63};
  for (int i = 0; i < 40; ++i) words.push_back(random.next() >> random.below(64));
  for_each_limit([&](const LimitOptions& options) {
    const Limit limit = Limit::create(options).value();
    if (limit.is_log()) return;
    for (const Instant now : instants) {
      for (const std::uint64_t word : words) {
        const State state = {.word = word, .second = limit.state_words() == 2 ? words[random.below(words.size())] : 0};
        for (const Verb verb : {Verb::decide, Verb::look, Verb::refund, Verb::debit}) {
          for (const std::uint64_t cost : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kMost}, UINT64_MAX}) {
            expect_sound(limit, state, {.verb = verb, .cost = cost, .now = now, .charged_at = now});
            if (HasFatalFailure()) return;
          }
        }
        ASSERT_GE(fresh_at(limit, state), kStateEpoch);
        if (limit.is_bucket()) static_cast<void>(used_share(limit, state, now));
        static_cast<void>(rebuild(limit, fresh_at(limit, state), now));
      }
    }
  });
}

// The bound of algorithms: a stall is no longer than a full refill, or than the windows that count.
TEST_P(Extremes, ClockThatRanAwayAndCameBackStallsNoLongerThanAFullCounterDoes) {
  for_each_limit([](const LimitOptions& options) {
    const Limit limit = Limit::create(options).value();
    const Nanoseconds window = seconds{limit.window_seconds()};
    if (limit.window_seconds() > 2 * kYearSeconds) return;
    Counter counter{limit};
    counter.debit(UINT64_MAX, kOddInstant + 3 * window + hours{100});
    counter.ask({.accepts_wait = true, .cost = 1, .now = kOddInstant + 3 * window + hours{100}});
    const Decision back = counter.decide(1, kOddInstant);
    Counter full{limit};
    full.debit(UINT64_MAX, kOddInstant);
    full.ask({.accepts_wait = true, .cost = 1, .now = kOddInstant});
    const Nanoseconds slack = limit.is_bucket() ? limit.max_wait() + seconds{1} : window;
    EXPECT_LE(back.reset_after, full.look(1, kOddInstant).reset_after + slack);
    if (back.reset_after > std::chrono::years{20}) return;
    const Decision later = counter.look(1, kOddInstant + back.reset_after);
    EXPECT_EQ(later.remaining, limit.capacity());
  });
}

INSTANTIATE_TEST_SUITE_P(Limits, Extremes, ::testing::ValuesIn(families()), name_of);

TEST(Extremes, AnInstantBefore2025CountsAsItsFirst) {
  const Instant early = instant_from_unix_seconds(1'577'836'800) + Nanoseconds{1};
  for (const Limit& limit : {gcra(1, 1, 5), window(5, 60), sliding_window(5, 60),
                             gcra(gcra_options(1, 1, 5), {.amount = 1, .window_seconds = 60, .burst = 5})}) {
    Counter counter{limit};
    EXPECT_EQ(counter.admitted(6, early), 5u);
    EXPECT_EQ(counter.look(1, kStateEpoch).outcome, Outcome::denied);
    const Decision refused = counter.look(1, early);
    EXPECT_EQ(counter.look(1, early + refused.retry_after).outcome, Outcome::allowed);
  }
}

TEST(Extremes, RatesStillHoldIn2054) {
  const Instant late = instant_from_unix_seconds(2'650'838'400) + Nanoseconds{1};
  for (const Limit& limit :
       {gcra(999'983, 1, 10), gcra(kMost, 1, 10), gcra(4'000'000'000, 1, 10), gcra(7, 60, 10), window(10, 1),
        sliding_window(10, 1), gcra(gcra_options(kMost, 1, 10), {.amount = 999'983, .window_seconds = 1, .burst = 10}),
        shaper(kMost, 1, 10, hours{24})}) {
    Counter counter{limit};
    EXPECT_EQ(counter.admitted(12, late), 10u) << limit.amount();
    const Decision refused = counter.look(10, late);
    EXPECT_EQ(counter.admitted(12, late + refused.retry_after), 10u) << limit.amount();
  }
}

// A second of asking again at the very instant that was told; the retry instants never drift.
TEST(Extremes, FastestRatesAdmitWhatTheySay) {
  struct Row {
    std::uint32_t amount;
    std::uint32_t burst;
    Nanoseconds span;
  };
  for (const Row& row : {Row{999'983, 10, seconds{1}}, Row{4'000'000'000, 1'000, std::chrono::milliseconds{1}},
                         Row{kMost, 100, std::chrono::microseconds{100}}}) {
    Counter counter{gcra(row.amount, 1, row.burst)};
    std::uint64_t admitted = 0;
    Instant now = kOddInstant;
    const Instant end = now + row.span;
    while (now < end) {
      const Decision decision = counter.decide(1, now);
      if (decision.outcome == Outcome::allowed) ++admitted;
      now += decision.retry_after;
    }
    const std::uint64_t refilled = static_cast<std::uint64_t>(row.span.count()) * row.amount / 1'000'000'000;
    EXPECT_NEAR(static_cast<double>(admitted), static_cast<double>(row.burst + refilled), 5.0) << row.amount;
  }
}

TEST(Extremes, OneADecadeIsOneADecade) {
  const Nanoseconds decade = seconds{10 * kYearSeconds};
  for (const LimitOptions& options : {gcra_options(1, 10 * kYearSeconds, 1), sliding_options(1, 10 * kYearSeconds)}) {
    SCOPED_TRACE(::testing::PrintToString(options));
    Counter counter{Limit::create(options).value()};
    EXPECT_EQ(counter.decide(1, kOddInstant).outcome, Outcome::allowed);
    const Decision refused = counter.decide(1, kOddInstant + seconds{1});
    EXPECT_EQ(refused.outcome, Outcome::denied);
    EXPECT_LE(refused.retry_after, 2 * decade);
    EXPECT_EQ(counter.look(1, kOddInstant + seconds{1} + refused.retry_after).outcome, Outcome::allowed);
    if (options.algorithm == Algorithm::gcra) {
      EXPECT_EQ(refused.retry_after, decade - seconds{1});
    }
  }
}

TEST(Extremes, SoakOfADayAdmitsExactlyBurstPlusRate) {
  Counter counter{gcra(7, 60, 5)};
  std::uint64_t admitted = 0;
  Instant now = kOddInstant;
  const Instant end = now + hours{24};
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
