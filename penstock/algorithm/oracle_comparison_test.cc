// Random streams against the oracles. Each names its seed; the same seed gives the same stream.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/algorithm.h"
#include "penstock/algorithm/testing/limits.h"
#include "penstock/algorithm/testing/oracle.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

Expectation said(const Decision& decision) {
  return {.outcome = decision.outcome,
          .remaining = decision.remaining,
          .retry_after = decision.retry_after,
          .reset_after = decision.reset_after,
          .count_before = decision.count_before};
}

::testing::Message in_words(const char* who, const Expectation& e) {
  return ::testing::Message() << "\n"
                              << who << ": outcome " << static_cast<int>(e.outcome) << " remaining " << e.remaining
                              << " retry " << e.retry_after.count() << " reset " << e.reset_after.count() << " before "
                              << e.count_before;
}

// Steps of about the time of one unit, of the whole burst, of nothing, and by turns exactly to the told retry.
Nanoseconds next_step(Random& random, const LimitOptions& options, Nanoseconds retry) {
  const auto unit = static_cast<std::uint64_t>(options.window_seconds) * 1'000'000'000 / options.amount;
  const auto up_to = [&](std::uint64_t most) { return Nanoseconds{static_cast<std::int64_t>(random.below(most + 1))}; };
  switch (random.below(6)) {
    case 0: return Nanoseconds{0};
    case 1: return retry > Nanoseconds{0} ? retry : Nanoseconds{0};
    case 2: return retry > Nanoseconds{1} ? retry - Nanoseconds{1} : Nanoseconds{1};
    case 3: return up_to(std::min<std::uint64_t>(unit * std::min(options.burst, 1000u), 1'000'000'000'000'000));
    default: return up_to(std::min<std::uint64_t>(2 * unit, 1'000'000'000'000'000));
  }
}

class OracleComparison : public ::testing::TestWithParam<LimitOptions> {};

// With ticks of whole nanoseconds every number must be the exact one; otherwise each must lie between what is exact
// for a level one tick lower and one tick higher, however long the stream is.
TEST_P(OracleComparison, BucketDecidesAsExactArithmeticSays) {
  const LimitOptions& options = GetParam();
  const Limit limit = Limit::create(options).value();
  const bool exact = limit.ticks_per_nanosecond() > 0;
  const Wide lenience = exact ? 0 : Wide{options.amount} * 1'000'000'000 / limit.ticks_per_second() + 1;
  const Nanoseconds tick{1'000'000'000 / limit.ticks_per_second() + 1};  // a fresh bucket is charged from the last one
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random{seed};
    BucketOracle oracle{options};
    Counter counter{limit};
    Instant now = kOddInstant;
    Nanoseconds retry{0};
    for (int step = 0; step < 400; ++step) {
      now += next_step(random, options, retry);
      if (now > kOddInstant + std::chrono::years{25}) break;  // within the range of ticks
      const std::uint64_t cost =
          random.below(10) == 0 ? random.below(std::uint64_t{options.burst} * 2 + 2) : random.below(4);
      if (random.below(12) == 0) {
        if (counter.apply(Verb::refund, cost, now, now).charged) oracle.refund(cost, now);
        continue;
      }
      if (random.below(12) == 0) {
        if (counter.apply(Verb::debit, cost, now, now).charged) oracle.debit(cost, now);
        continue;
      }
      const Expectation low = oracle.expect(cost, now, -lenience), high = oracle.expect(cost, now, lenience);
      const Decision decision = counter.decide(cost, now);
      const Expectation got = said(decision);
      const bool as_low = got.outcome == low.outcome;
      ASSERT_TRUE(as_low || got.outcome == high.outcome)
          << step << in_words("got", got) << in_words("low", low) << in_words("high", high);
      if (exact) {
        ASSERT_EQ(got, low) << step << in_words("got", got) << in_words("expected", low);
      } else if (low.outcome == high.outcome) {
        ASSERT_TRUE(low.remaining <= got.remaining && got.remaining <= high.remaining)
            << step << in_words("got", got) << in_words("low", low) << in_words("high", high);
        ASSERT_TRUE(high.reset_after - tick <= got.reset_after && got.reset_after <= low.reset_after)
            << step << in_words("got", got) << in_words("low", low) << in_words("high", high);
        ASSERT_TRUE(high.retry_after <= got.retry_after && got.retry_after <= low.retry_after)
            << step << in_words("got", got) << in_words("low", low) << in_words("high", high);
      }
      if (decision.charged) oracle.charge(cost, now);
      retry = decision.retry_after;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Buckets, OracleComparison, ::testing::ValuesIn(buckets_of_all_sizes()));

TEST(OracleComparison, BucketAgreesWhenTheClockStepsBack) {
  for (const LimitOptions& options : {gcra_options(1, 1, 5), gcra_options(600, 60, 20), gcra_options(3, 2, 3)}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(::testing::PrintToString(options) + " seed " + std::to_string(seed));
      Random random{seed};
      BucketOracle oracle{options};
      Counter counter{Limit::create(options).value()};
      Instant now = kOddInstant;
      for (int step = 0; step < 300; ++step) {
        const auto jump = Nanoseconds{static_cast<std::int64_t>(random.below(3'000'000'000))};
        now += random.below(4) == 0 ? -2 * jump : jump;
        const std::uint64_t cost = random.below(4);
        const Expectation expected = oracle.expect(cost, now);
        const Decision decision = counter.decide(cost, now);
        ASSERT_EQ(said(decision), expected)
            << step << in_words("got", said(decision)) << in_words("expected", expected);
        oracle.witness(now);
        if (decision.charged) oracle.charge(cost, now);
      }
    }
  }
}

class WindowComparison : public ::testing::TestWithParam<LimitOptions> {};

TEST_P(WindowComparison, WindowDecidesAsCountingSays) {
  const LimitOptions& options = GetParam();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Random random{seed};
    WindowOracle oracle{options};
    Counter counter{Limit::create(options).value()};
    Instant now = kOddInstant;
    const std::uint64_t length = static_cast<std::uint64_t>(options.window_seconds) * 1'000'000'000;
    for (int step = 0; step < 300; ++step) {
      const auto jump = Nanoseconds{static_cast<std::int64_t>(random.below(length / 2))};
      now += random.below(6) == 0 ? -6 * jump : jump;
      const Instant charged_at = random.below(2) == 0 ? now : now - 4 * jump;
      const std::uint64_t cost = random.below(std::uint64_t{options.amount} + 2);
      switch (random.below(8)) {
        case 0: {
          counter.apply(Verb::refund, cost, now, charged_at);
          if (cost > 0) oracle.refund(cost, now, charged_at);
          oracle.witness(now);
          break;
        }
        case 1: {
          counter.apply(Verb::debit, cost, now, now);
          if (cost > 0) oracle.charge(cost, now);
          oracle.witness(now);
          break;
        }
        default: {
          const Expectation expected = oracle.expect(cost, now);
          const Decision decision = counter.decide(cost, now);
          ASSERT_EQ(said(decision), expected)
              << step << in_words("got", said(decision)) << in_words("expected", expected);
          oracle.witness(now);
          if (decision.charged) oracle.charge(cost, now);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, WindowComparison,
                         ::testing::Values(window_options(5, 1, false), window_options(5, 1, true),
                                           window_options(100, 60, false), window_options(100, 60, true),
                                           window_options(1, 86'400, false), window_options(0, 60, true),
                                           window_options(0, 60, false)));

}  // namespace
}  // namespace penstock::algorithm::testing
