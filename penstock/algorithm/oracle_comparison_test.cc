// Random streams against the oracles. Each names its seed; the same seed gives the same stream.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/families.h"
#include "penstock/algorithm/testing/limits.h"
#include "penstock/algorithm/testing/oracle.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

::testing::Message in_words(const char* who, const Expectation& e) {
  return ::testing::Message() << "\n"
                              << who << ": outcome " << static_cast<int>(e.outcome) << " remaining " << e.remaining
                              << " retry " << e.retry_after.count() << " reset " << e.reset_after.count() << " before "
                              << e.count_before;
}

Nanoseconds up_to(Random& random, std::uint64_t most) {
  return Nanoseconds{static_cast<std::int64_t>(random.below(most + 1))};
}

constexpr std::uint64_t kLongestStep = 1'000'000'000'000'000;

// Steps of about the time of one unit, of the whole burst or window, of nothing, and by turns exactly to the told
// retry.
Nanoseconds next_step(Random& random, const LimitOptions& options, Nanoseconds retry) {
  const std::uint64_t unit = unit_nanoseconds(Limit::create(options).value());
  const std::uint64_t all = unit * std::min(options.burst > 0 ? options.burst : options.amount, 1000u);
  switch (random.below(6)) {
    case 0: return Nanoseconds{0};
    case 1: return std::max(retry, Nanoseconds{0});
    case 2: return retry > Nanoseconds{1} ? retry - Nanoseconds{1} : Nanoseconds{1};
    case 3: return up_to(random, std::min(all, kLongestStep));
    default: return up_to(random, std::min(2 * unit, kLongestStep));
  }
}

Ask next_ask(Random& random, const LimitOptions& options, Instant now) {
  const std::uint64_t most = options.burst > 0 ? options.burst : options.amount;
  Ask ask = {.accepts_wait = random.below(2) == 0,
             .cost = random.below(10) == 0 ? random.below(most * 2 + 2) : random.below(4),
             .now = now};
  switch (random.below(12)) {
    case 0: ask.verb = Verb::refund; break;
    case 1: ask.verb = Verb::debit; break;
    case 2: ask.verb = Verb::look; break;
    default: break;
  }
  const std::uint64_t length = static_cast<std::uint64_t>(options.window_seconds) * 1'000'000'000;
  switch (random.below(4)) {
    case 0: ask.charged_at = now; break;
    case 1: break;
    default: ask.charged_at = now - up_to(random, std::min(2 * length, kLongestStep));
  }
  return ask;
}

constexpr Instant kEnd = kOddInstant + std::chrono::years{25};  // within the range of ticks

// A counter beside its oracle.
class Pair {
 public:
  explicit Pair(const LimitOptions& options) : oracle_{oracle_for(options)}, counter_{Limit::create(options).value()} {}

  Expectation ask(const Ask& ask) {
    const Expectation expected = oracle_->expect(ask);
    const Expectation got = said(counter_.ask(ask));
    EXPECT_EQ(got, expected) << in_words("got", got) << in_words("expected", expected);
    oracle_->happened(ask, got);
    return got;
  }

 private:
  std::unique_ptr<Oracle> oracle_;
  Counter counter_;
};

class OracleComparison : public FamilyTest {
 protected:
  // Calls `check(options, random)` for each limit and seed.
  template <class Check>
  static void for_each_stream(std::uint64_t seeds, Check check) {
    for_each_limit([&](const LimitOptions& options) {
      for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        Random random{seed};
        check(options, random);
      }
    });
  }
};

TEST_P(OracleComparison, DecidesAsTheWholeHistorySays) {
  for_each_stream(5, [](const LimitOptions& options, Random& random) {
    if (!has_whole_ticks(options)) return;
    Pair pair{options};
    Instant now = kOddInstant;
    for (int step = 0; step < 400 && now < kEnd; ++step) {
      const Expectation got = pair.ask(next_ask(random, options, now));
      ASSERT_FALSE(HasFailure()) << "step " << step;
      now += next_step(random, options, got.retry_after);
    }
  });
}

// By up to some windows either way.
TEST_P(OracleComparison, DecidesAsTheWholeHistorySaysWhenTheClockSteps) {
  for_each_stream(10, [](const LimitOptions& options, Random& random) {
    if (!has_whole_ticks(options)) return;
    const std::uint64_t length = static_cast<std::uint64_t>(options.window_seconds) * 1'000'000'000;
    const std::uint64_t jump = std::min(length, kLongestStep) / 2;
    Pair pair{options};
    Instant now = kOddInstant;
    for (int step = 0; step < 300; ++step) {
      pair.ask(next_ask(random, options, now));
      ASSERT_FALSE(HasFailure()) << "step " << step;
      now += random.below(6) == 0 ? -6 * up_to(random, jump) : up_to(random, jump);
      now = std::max(now, kStateEpoch);
    }
  });
}

void expect_between(const Expectation& got, const Expectation& low, const Expectation& high, Nanoseconds tick) {
  const auto all = [&] { return in_words("got", got) << in_words("low", low) << in_words("high", high); };
  ASSERT_TRUE(got.outcome == low.outcome || got.outcome == high.outcome) << all();
  if (low.outcome != high.outcome) return;
  ASSERT_TRUE(low.remaining <= got.remaining && got.remaining <= high.remaining) << all();
  ASSERT_TRUE(high.reset_after - tick <= got.reset_after && got.reset_after <= low.reset_after) << all();
  ASSERT_TRUE(high.retry_after - tick <= got.retry_after && got.retry_after <= low.retry_after) << all();
}

// Where ticks are no whole nanoseconds each number must lie between what is exact for a level one tick lower and one
// tick higher, however long the stream.
TEST_P(OracleComparison, DecidesWithinATickOfWhatTheWholeHistorySays) {
  for_each_stream(5, [](const LimitOptions& options, Random& random) {
    if (has_whole_ticks(options)) return;
    const Limit limit = Limit::create(options).value();
    Nanoseconds tick{1'000'000'000 / limit.ticks().per_second + 1};  // a charge counts from the last one
    if (limit.has_peak()) tick = std::max(tick, Nanoseconds{1'000'000'000 / limit.peak_ticks().per_second + 1});
    BucketOracle oracle{options};
    Counter counter{limit};
    Instant now = kOddInstant;
    for (int step = 0; step < 400 && now < kEnd; ++step) {
      const Ask ask = next_ask(random, options, now);
      const Expectation low = oracle.expect(ask, -1), high = oracle.expect(ask, 1);
      const Expectation got = said(counter.ask(ask));
      expect_between(got, low, high, tick);
      ASSERT_FALSE(HasFailure()) << "step " << step;
      oracle.happened(ask, got);
      now += next_step(random, options, got.retry_after);
    }
  });
}

std::vector<Family> with_more(std::vector<Family> all) {
  all.push_back(
      {"small_ones",
       {gcra_options(3, 2, 3), window_options(100, 60, false), window_options(100, 60, true),
        window_options(0, 60, true), window_options(0, 60, false), sliding_options(0, 60), sliding_options(100, 60)}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Limits, OracleComparison, ::testing::ValuesIn(with_more(families())), name_of);

}  // namespace
}  // namespace penstock::algorithm::testing
