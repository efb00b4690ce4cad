// The most that anybody gets, whatever they do: over every interval of every stream no more passes than the algorithm's
// bound, and the worst that was found is printed beside it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/families.h"
#include "penstock/algorithm/testing/limits.h"
#include "penstock/algorithm/testing/oracle.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

struct Admitted {
  Instant at;  // it departs
  std::uint64_t cost;
};

Wide rate_bound(const PeakOptions& rate, const Ticks& ticks, Wide interval) {
  const Wide tick = ticks.per_nanosecond > 0 ? 0 : 1'000'000'000 / ticks.per_second + 1;
  return rate.burst + rate.amount * (interval + tick) / (Wide{rate.window_seconds} * 1'000'000'000);
}

// The most that may pass within a closed interval of so many nanoseconds.
Wide bound(const LimitOptions& options, Wide interval) {
  const Limit limit = Limit::create(options).value();
  const Wide window = Wide{options.window_seconds} * 1'000'000'000;
  switch (options.algorithm) {
    case Algorithm::fixed_window: return options.amount * ((interval + window - 1) / window + 1);
    case Algorithm::sliding_window: return options.amount + options.amount * interval / window;
    case Algorithm::sliding_log: return options.amount * (interval / window + 1);
    case Algorithm::gcra:
    case Algorithm::token_bucket:
    case Algorithm::leaky_bucket: break;
  }
  if (options.max_wait > Nanoseconds{0}) ++interval;  // who waits departs at a whole nanosecond, so up to one late
  const Wide sustained = rate_bound({options.amount, options.window_seconds, options.burst}, limit.ticks(), interval);
  return options.peak ? std::min(sustained, rate_bound(*options.peak, limit.peak_ticks(), interval)) : sustained;
}

void expect_within_bound(const LimitOptions& options, std::vector<Admitted> admitted) {
  std::ranges::sort(admitted, {}, &Admitted::at);
  for (std::size_t first = 0; first < admitted.size(); ++first) {
    Wide sum = 0;
    for (std::size_t last = first; last < admitted.size(); ++last) {
      sum += admitted[last].cost;
      const Wide interval = (admitted[last].at - admitted[first].at).count();
      ASSERT_LE(sum, bound(options, interval)) << "in " << static_cast<std::int64_t>(interval) << " ns";
    }
  }
}

class Bounds : public FamilyTest {};

// Asks at once, in pieces, in costs of all sizes, sometimes ready to wait, and again at the very instant that was told.
TEST_P(Bounds, NoStreamGetsMore) {
  for_each_limit([](const LimitOptions& options) {
    const Limit limit = Limit::create(options).value();
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      Random random{seed};
      Counter counter{limit};
      std::vector<Admitted> admitted;
      Instant now = kOddInstant;
      for (int step = 0; step < 200 && now < kOddInstant + std::chrono::years{20}; ++step) {
        const std::uint64_t cost = random.below(3) > 0 ? 1 : 1 + random.below(limit.capacity());
        const Decision decision = counter.ask({.accepts_wait = random.below(3) == 0, .cost = cost, .now = now});
        if (decision.outcome == Outcome::allowed) admitted.push_back({now + decision.retry_after, cost});
        if (decision.outcome != Outcome::denied) continue;
        if (decision.retry_after > std::chrono::years{5}) break;
        now += decision.retry_after;
      }
      expect_within_bound(options, admitted);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Limits, Bounds, ::testing::ValuesIn(families()), name_of);

// The limit under a counter as its rule file changes: as a store does, with the state rebuilt where its scale differs.
void change(Counter& counter, const LimitOptions& options, Instant now) {
  const Limit changed = Limit::create(options).value();
  const bool rebuilt = counter.limit.scale_check() != changed.scale_check();
  if (rebuilt) counter.state = rebuild(changed, counter.fresh_at(), now);
  counter.limit = changed;
}

// What passes in 100 asks of a caller who comes as often as he can.
std::vector<Admitted> pressed(Counter& counter, Random& random, Instant& now) {
  std::vector<Admitted> admitted;
  for (int step = 0; step < 100; ++step) {
    const std::uint64_t cost = random.below(3) > 0 ? 1 : 1 + random.below(counter.limit.capacity());
    const Decision decision = counter.ask({.accepts_wait = random.below(2) == 0, .cost = cost, .now = now});
    if (decision.outcome == Outcome::allowed) admitted.push_back({now + decision.retry_after, cost});
    if (decision.outcome == Outcome::denied && random.below(4) > 0) now += decision.retry_after;
  }
  return admitted;
}

TEST(ChangingLimits, WindowsAndLogsNeverGiveMoreThanTheLargestOfTheLimits) {
  for (const LimitOptions& options :
       {window_options(40, 10, false), window_options(40, 10, true), spread({window_options(40, 10, false)})[0],
        sliding_options(40, 10), spread({sliding_options(40, 10)})[0], log_options(40, 10)}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(::testing::PrintToString(options) + ", seed " + std::to_string(seed));
      Random random{seed};
      Counter counter{Limit::create(options).value()};
      std::vector<Admitted> admitted;
      Instant now = kOddInstant;
      for (int round = 0; round < 10; ++round) {
        LimitOptions changed = options;
        changed.amount = static_cast<std::uint32_t>(1 + random.below(options.amount));
        change(counter, changed, now);
        const std::vector<Admitted> more = pressed(counter, random, now);
        admitted.insert(admitted.end(), more.begin(), more.end());
      }
      expect_within_bound(options, admitted);
    }
  }
}

LimitOptions any_bucket(Random& random) {
  const auto up_to = [&](std::uint64_t most) { return static_cast<std::uint32_t>(1 + random.below(most)); };
  LimitOptions options =
      shaper_options(up_to(200), up_to(60), up_to(50), std::chrono::milliseconds{random.below(3'000)});
  if (random.below(3) == 0) options.peak = {.amount = up_to(50), .window_seconds = 1, .burst = up_to(20)};
  return options;
}

// Whatever the counter was before: the new burst at once, and the new rate from then on.
TEST(ChangingLimits, BucketsGiveNoMoreThanTheNewBurstAndRateFromTheChangeOn) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random{seed};
    Counter counter{Limit::create(any_bucket(random)).value()};
    Instant now = kOddInstant;
    for (int round = 0; round < 30; ++round) {
      const LimitOptions changed = any_bucket(random);
      SCOPED_TRACE(::testing::PrintToString(changed) + ", seed " + std::to_string(seed));
      change(counter, changed, now);
      expect_within_bound(changed, pressed(counter, random, now));
      if (HasFatalFailure()) return;
    }
  }
}

// What passes within the window from the first charge on, the window's last instant included or not.
Wide most_in_a_window(const std::vector<Admitted>& admitted, Nanoseconds window, bool closed) {
  Wide most = 0;
  for (std::size_t first = 0; first < admitted.size(); ++first) {
    const Instant end = admitted[first].at + window;
    Wide sum = 0;
    for (std::size_t i = first; i < admitted.size() && (closed ? admitted[i].at <= end : admitted[i].at < end); ++i) {
      sum += admitted[i].cost;
    }
    most = std::max(most, sum);
  }
  return most;
}

// Takes all there is at `start`, waiting where that is let, then every unit at the instant at which it comes back, for
// three windows.
std::vector<Admitted> greedy(const Limit& limit, Instant start, std::uint64_t piece) {
  Counter counter{limit};
  std::vector<Admitted> admitted;
  const Instant end = start + std::chrono::seconds{3 * limit.window_seconds()};
  Instant now = start;
  while (now < end && admitted.size() < 5'000) {
    const Decision decision = counter.ask({.accepts_wait = true, .cost = piece, .now = now});
    if (decision.outcome == Outcome::allowed) {
      admitted.push_back({now + decision.retry_after, piece});
    } else {
      now += decision.retry_after;
    }
  }
  return admitted;
}

struct WorstCase {
  LimitOptions options;
  std::uint32_t most;  // in any window, by the table of bounds
};

// The worst of attacks that begin at many places of a window, just before and at its boundary above all.
Wide worst_found(const LimitOptions& options) {
  const Limit limit = Limit::create(options).value();
  const Nanoseconds window = std::chrono::seconds{options.window_seconds};
  const Instant boundary =
      instant_from_unix_seconds((1'780'000'000 / options.window_seconds + 1) * options.window_seconds) -
      limit.window_offset(kCounterHash);
  const bool closed = options.algorithm != Algorithm::sliding_log;
  Wide worst = 0;
  for (int part = 0; part <= 32; ++part) {
    for (const Nanoseconds off : {Nanoseconds{-1}, Nanoseconds{0}}) {
      for (const std::uint64_t piece : {std::uint64_t{1}, std::uint64_t{limit.capacity() / 2 + 1}}) {
        const auto admitted = greedy(limit, boundary + window * part / 32 + off, piece);
        worst = std::max(worst, most_in_a_window(admitted, window, closed));
      }
    }
  }
  return worst;
}

TEST(WorstCase, IsTheOneOfTheTableAndNoMore) {
  const std::vector<WorstCase> cases = {
      {window_options(5, 20, false), 10},
      {window_options(100, 1'000, false), 200},
      {sliding_options(5, 20), 9},
      {sliding_options(10, 60), 19},
      {sliding_options(100, 1'000), 199},
      {spread({window_options(5, 20, false)})[0], 10},
      {spread({sliding_options(10, 60)})[0], 19},
      {log_options(5, 20), 5},
      {log_options(100, 1'000), 100},
      {gcra_options(5, 20, 5), 10},
      {gcra_options(100, 1'000, 7), 107},
      {gcra_options(10, 60, 1), 11},
      {gcra_options(7, 60, 5), 12},
      {shaper_options(10, 60, 1, std::chrono::seconds{30}), 11},
      {shaper_options(5, 20, 1, std::chrono::hours{1}), 6},
      {shaper_options(100, 1'000, 7, std::chrono::seconds{100}), 107},
      {peak_options(gcra_options(100, 60, 100), {10, 1, 10}), 200},
      {peak_options(gcra_options(100, 60, 100), {1, 1, 1}), 61},
  };
  for (const WorstCase& row : cases) {
    const auto worst = static_cast<std::uint64_t>(worst_found(row.options));
    GTEST_LOG_(INFO) << ::testing::PrintToString(row.options) << ": worst found " << worst << " in one window, bound "
                     << row.most;
    EXPECT_EQ(worst, row.most) << ::testing::PrintToString(row.options);
  }
}

// What leaves those who wait is at least the time of a unit apart, however many ask at once.
TEST(WorstCase, ShaperOfBurstOneSpacesEvenly) {
  for (const LimitOptions& options :
       {shaper_options(10, 60, 1, std::chrono::seconds{30}), shaper_options(7, 60, 1, std::chrono::hours{1}),
        shaper_options(1'000, 1, 1, std::chrono::milliseconds{10})}) {
    const Limit limit = Limit::create(options).value();
    const Nanoseconds unit{options.window_seconds * kNanosecondsPerSecond / options.amount};
    Nanoseconds closest = Nanoseconds::max();
    const std::vector<Admitted> departed = greedy(limit, kOddInstant, 1);
    for (std::size_t i = 1; i < departed.size(); ++i) closest = std::min(closest, departed[i].at - departed[i - 1].at);
    GTEST_LOG_(INFO) << ::testing::PrintToString(options) << ": closest found " << closest.count()
                     << " ns apart, bound " << unit.count();
    EXPECT_LE(closest - unit, Nanoseconds{1});
    EXPECT_GE(closest, unit);
  }
}

// The doubling of a fixed window needs an instant, that of a sliding window nearly the whole window.
TEST(WorstCase, SlidingWindowDoublesOnlyOverNearlyAWindow) {
  const Instant boundary = instant_from_unix_seconds(1'780'000'000);
  const auto in_a_tenth = [&](const Limit& limit) {
    return most_in_a_window(greedy(limit, boundary - Nanoseconds{1}, 1), std::chrono::seconds{100}, true);
  };
  ASSERT_EQ(boundary.time_since_epoch() % std::chrono::seconds{1'000}, Nanoseconds{0});
  EXPECT_EQ(in_a_tenth(window(100, 1'000)), 200);
  EXPECT_EQ(in_a_tenth(sliding_window(100, 1'000)), 109);
}

}  // namespace
}  // namespace penstock::algorithm::testing
