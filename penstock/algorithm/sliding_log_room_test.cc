// Sliding logs and the rings that their entries stand in: against the oracle, with too little room, moved about, and at
// the edges of what they hold.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/sliding_log.h"
#include "penstock/algorithm/testing/limits.h"
#include "penstock/algorithm/testing/log_oracle.h"
#include "penstock/base/random.h"

namespace penstock::algorithm::testing {
namespace {

using std::chrono::seconds;

constexpr Nanoseconds kTick{1};

// A log as a keeper keeps it that has rings of at most so many places; 0: it has none.
struct KeptLog {
  Limit limit;
  std::size_t most_places;
  State state = {};
  std::vector<LogEntry> places = {};

  [[nodiscard]] LogPlaces ring() { return log_ring(state) ? LogPlaces{places} : LogPlaces{}; }

  void move_to(std::size_t size) {
    std::vector<LogEntry> other(size);
    state = move_log(state, ring(), {.ring = size, .places = other});
    places = std::move(other);
  }

  void prepare(Instant now) {
    const std::size_t wanted = log_places_wanted(limit, state, now, ring());
    const std::size_t size = std::min(std::bit_ceil(wanted), most_places);
    if (wanted > ring().size() && size > ring().size()) move_to(size);
    if (wanted > 0 && log_ring(state)) state = make_room(limit, state, now, places);
  }

  Decision ask(const Ask& ask) {
    if (ask.verb != Verb::look) prepare(ask.now);
    const Step step = apply(limit, state, ask, ring());
    if (ask.verb != Verb::look) state = step.state;
    return step.decision;
  }
  Decision decide(std::uint64_t cost, Instant now) { return ask({.cost = cost, .now = now}); }
  Decision look(std::uint64_t cost, Instant now) { return ask({.verb = Verb::look, .cost = cost, .now = now}); }
};

LimitOptions log_of(std::uint32_t amount, std::int64_t length, bool count_refused = false) {
  LimitOptions options = log_options(amount, length);
  options.count_refused = count_refused;
  return options;
}

// Questions of all verbs, on times that mostly go on, sometimes by a window, sometimes back, sometimes far ahead.
class Stream {
 public:
  Stream(const LimitOptions& options, std::uint64_t seed) : options_{options}, random_{seed} {}

  Ask next() {
    now_ += step();
    return {.verb = random_.below(2) == 0 ? Verb::decide : static_cast<Verb>(random_.below(4)),
            .cost = random_.below(30) == 0  ? random_.next()
                    : random_.below(8) == 0 ? some_of_the_amount()
                                            : random_.below(3),
            .now = now_,
            .charged_at = random_.below(2) == 0 ? now_ : now_ - up_to(2 * window())};
  }
  void retry_at(Nanoseconds wait) {
    if (wait > Nanoseconds{0} && random_.below(3) == 0) next_step_ = wait - kTick * static_cast<int>(random_.below(2));
  }

 private:
  [[nodiscard]] std::int64_t window() const { return options_.window_seconds * kNanosecondsPerSecond; }
  std::uint64_t some_of_the_amount() { return random_.below(std::uint64_t{options_.amount} + 2); }
  Nanoseconds up_to(std::int64_t most) {
    return Nanoseconds{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most) + 1))};
  }
  Nanoseconds step() {
    if (next_step_ > Nanoseconds{0}) return std::exchange(next_step_, Nanoseconds{0});
    switch (random_.below(20)) {
      case 0: return Nanoseconds{0};
      case 1: return -up_to(900'000'000);
      case 2: return -up_to(2 * window());
      case 3: return up_to(2 * window());
      default: return up_to(2 * window() / options_.amount);
    }
  }

  LimitOptions options_;
  Random random_;
  Instant now_ = kOddInstant;
  Nanoseconds next_step_{0};
};

TEST(SlidingLogRoom, WithRoomForAllEntriesDecidesAsTheWholeHistorySays) {
  for (const LimitOptions& options : {log_of(1, 1), log_of(5, 2), log_of(5, 2, true), log_of(40, 60), log_of(1000, 60),
                                      log_of(1000, 1, true), log_of(65'536, 3600)}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(::testing::PrintToString(options) + " seed " + std::to_string(seed));
      KeptLog log{.limit = Limit::create(options).value(), .most_places = kMaxLogAmount};
      log.move_to(std::min<std::size_t>(std::bit_ceil(options.amount + 1), kMaxLogAmount));
      LogOracle oracle{options};
      Stream stream{options, seed};
      for (int step = 0; step < 1000; ++step) {
        if (!log_ring(log.state)) log.move_to(log.places.size());
        const Ask ask = stream.next();
        const Expectation expected = oracle.expect(ask);
        const Decision decision = log.ask(ask);
        ASSERT_EQ(said(decision), expected) << "step " << step << ": " << ::testing::PrintToString(decision);
        oracle.happened(ask, expected);
        stream.retry_at(decision.retry_after);
      }
    }
  }
}

// What a log with too little room admitted, as the whole history would have counted it.
class Audit {
 public:
  explicit Audit(const LimitOptions& options) : exact_{options} {}

  void check(const Ask& ask, const Decision& decision) {
    const std::uint32_t truly_left = exact_.expect({.verb = Verb::look, .cost = 0, .now = ask.now}).remaining;
    if (decision.outcome == Outcome::allowed) {
      ASSERT_LE(ask.cost, truly_left) << "admitted too much";
    }
    Expectation answer;
    answer.outcome = decision.outcome;
    exact_.happened(ask, answer);
    ASSERT_LE(decision.remaining, exact_.expect({.verb = Verb::look, .cost = 0, .now = ask.now}).remaining);
  }

 private:
  LogOracle exact_;
};

// Costs that come at once, evenly, or far apart, by turns.
struct Traffic {
  Random random;
  Instant now = kOddInstant;

  Ask next(const LimitOptions& options, int step) {
    const auto even = static_cast<std::uint64_t>(options.window_seconds) * 1'000'000'000 / options.amount;
    const std::uint64_t pace = step / 100 % 3 == 0 ? even / 50 : step / 100 % 3 == 1 ? even : 5 * even;
    now += Nanoseconds{static_cast<std::int64_t>(1 + random.below(2 * pace + 1))};
    return {.cost = 1 + random.below(3), .now = now};
  }
};

TEST(SlidingLogRoom, TooLittleRoomNeverAdmitsMore) {
  for (const std::size_t places : {0u, 1u, 2u, 4u, 8u, 64u}) {
    for (const LimitOptions& options :
         {log_of(3, 1), log_of(100, 60), log_of(100, 60, true), log_of(5000, 3600), log_of(65'536, 86'400)}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(::testing::PrintToString(options) + " seed " + std::to_string(seed));
        KeptLog log{.limit = Limit::create(options).value(), .most_places = places};
        Audit audit{options};
        Traffic traffic{.random = Random{seed}};
        for (int step = 0; step < 1500; ++step) {
          const Ask ask = traffic.next(options, step);
          audit.check(ask, log.ask(ask));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// A charge counts for less than W + 4 W / places: a log of that longer window has no less used.
TEST(SlidingLogRoom, FoldingCountsAChargeForALittleLongerAndNotMore) {
  for (const std::int64_t places : {8, 16, 64, 256}) {
    const LimitOptions options = log_of(60'000, 1024), longer = log_of(60'000, 1024 + 4 * 1024 / places);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(::testing::Message() << places << " places, seed " << seed);
      KeptLog log{.limit = Limit::create(options).value(), .most_places = static_cast<std::size_t>(places)};
      LogOracle bound{longer};
      Random random{seed};
      Instant now = kOddInstant;
      for (int step = 0; step < 4000; ++step) {
        const std::uint64_t pace = random.below(4) == 0 ? 40'000'000'000 : 4'000'000'000;
        now += Nanoseconds{static_cast<std::int64_t>(1 + random.below(pace))};
        const Ask ask = {.cost = 1 + random.below(9), .now = now};
        const Decision decision = log.ask(ask);
        ASSERT_EQ(decision.outcome, Outcome::allowed);
        bound.happened(ask, said(decision));
        const Expectation least = bound.expect({.verb = Verb::look, .now = now});
        ASSERT_GE(decision.remaining, least.remaining) << "step " << step;
      }
    }
  }
}

TEST(SlidingLogRoom, LogWithoutARingCountsAllFromItsLastCharge) {
  KeptLog log{.limit = sliding_log(10, 60), .most_places = 0};
  for (const int second : {0, 20, 40}) log.decide(2, kZero + seconds{second});
  EXPECT_EQ(log.look(0, kZero + seconds{100} - kTick).remaining, 4u);
  EXPECT_EQ(log.look(0, kZero + seconds{100}).remaining, 10u);
}

// What can be told of a log from outside, now and later.
std::vector<Decision> seen(KeptLog& log, Instant now) {
  std::vector<Decision> decisions;
  const auto window = std::chrono::nanoseconds{seconds{log.limit.window_seconds()}};
  for (int step = 0; step <= 40; ++step) {
    for (const std::uint64_t cost : {1u, 3u, log.limit.amount()}) {
      decisions.push_back(log.look(cost, now + window * step / 32));
    }
  }
  return decisions;
}

TEST(SlidingLogRoom, StepsThatAreNotKeptLeaveTheLogAsItWas) {
  for (const std::size_t places : {0u, 2u, 8u, 64u}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(::testing::Message() << places << " places, seed " << seed);
      const bool counts_refused = seed % 2 == 0;
      KeptLog log{.limit = Limit::create(log_of(counts_refused ? 20 : 50, 8, counts_refused)).value(),
                  .most_places = places};
      Random random{seed};
      Instant now = kOddInstant;
      for (int step = 0; step < 150; ++step) {
        now += Nanoseconds{static_cast<std::int64_t>(random.below(400'000'000))};
        if (random.below(10) == 0) now -= seconds{random.below(2) == 0 ? 9 : 1};  // also from a clock that had run away
        log.ask({.cost = random.below(3), .now = now});
        log.prepare(now);
        const std::vector<Decision> before = seen(log, now);
        State tried = log.state;
        const auto verb = static_cast<Verb>(random.below(4));
        for (int trial = 0; trial < 3; ++trial) {
          tried = apply(log.limit, tried, {.verb = verb, .cost = random.below(20), .now = now}, log.ring()).state;
        }
        ASSERT_EQ(seen(log, now), before) << "step " << step;
      }
    }
  }
}

TEST(SlidingLogRoom, LooksLeaveEvenAFullRingAsItWas) {
  KeptLog log{.limit = sliding_log(50, 60), .most_places = 2};
  log.decide(3, kZero);
  log.decide(2, kZero + seconds{10});
  ASSERT_EQ(log_size(log.state), log.places.size());
  const std::vector<Decision> before = seen(log, kZero + seconds{10});
  EXPECT_EQ(log.look(50, kZero - seconds{51}).reset_after, seconds{60}) << "as if the clock had run away";
  EXPECT_EQ(seen(log, kZero + seconds{10}), before);
}

TEST(SlidingLogRoom, ChargeThatFindsNoPlaceFoldsTheOldestEntry) {
  KeptLog log{.limit = sliding_log(50, 60), .most_places = 2};
  log.decide(3, kZero);
  log.decide(2, kZero + seconds{10});
  log.state = apply(log.limit, log.state, {.cost = 1, .now = kZero + seconds{20}}, log.ring()).state;
  EXPECT_EQ(log.look(0, kZero + seconds{70} - kTick).remaining, 44u);
  EXPECT_EQ(log.look(0, kZero + seconds{70}).remaining, 49u);
  EXPECT_EQ(log.look(0, kZero + seconds{80}).remaining, 50u);
}

TEST(SlidingLogRoom, MovingALogChangesNothingThatIsSaid) {
  KeptLog log{.limit = sliding_log(100, 60), .most_places = 64};
  for (int second = 0; second < 50; ++second) log.decide(1, kZero + seconds{second});
  log.decide(1, kZero + seconds{70});  // the first place is no longer the first entry's
  const Instant now = kZero + seconds{70};
  const std::vector<Decision> before = seen(log, now);
  for (const std::size_t size : {64u, 256u, 65'536u, 64u}) {
    log.move_to(size);
    EXPECT_EQ(seen(log, now), before) << size;
    EXPECT_EQ(log_ring(log.state), size);
  }
}

TEST(SlidingLogRoom, MovingToTooSmallARingKeepsTheSum) {
  for (const std::size_t size : {8u, 1u, 0u}) {
    KeptLog log{.limit = sliding_log(100, 60), .most_places = 64};
    for (int second = 0; second < 20; ++second) log.decide(1, kZero + seconds{second});
    log.move_to(size);
    const Instant now = kZero + seconds{19};
    EXPECT_EQ(log.look(0, now).remaining, 80u) << size;
    EXPECT_EQ(log.look(0, now).reset_after, seconds{60}) << size;
    EXPECT_EQ(log.look(81, now).retry_after, size == 8 ? seconds{53} : seconds{60}) << size;
  }
}

TEST(SlidingLogRoom, WantsPlacesOnlyWhereAChargeTakesOne) {
  KeptLog log{.limit = sliding_log(4, 60), .most_places = 64};
  const auto wanted = [&](Instant now) { return log_places_wanted(log.limit, log.state, now, log.ring()); };
  EXPECT_EQ(wanted(kZero), 0u) << "the first entry needs no ring";
  log.decide(1, kZero);
  EXPECT_EQ(wanted(kZero), 0u) << "one instant takes one entry";
  EXPECT_EQ(wanted(kZero - seconds{1}), 0u) << "charges behind the newest entry join it";
  EXPECT_EQ(wanted(kZero + seconds{1}), 2u);
  EXPECT_EQ(wanted(kZero + seconds{60}), 0u) << "it is over";
  log.move_to(2);
  log.decide(1, kZero + seconds{1});
  EXPECT_EQ(wanted(kZero + seconds{2}), 3u);
  EXPECT_EQ(wanted(kZero + seconds{60}), 2u) << "one is over";
  log.decide(2, kZero + seconds{1});
  EXPECT_EQ(wanted(kZero + seconds{2}), 0u) << "nothing remains to be charged";
  log.limit = Limit::create(log_of(4, 60, true)).value();
  EXPECT_EQ(wanted(kZero + seconds{2}), 3u) << "but refused cost counts";
}

TEST(SlidingLogRoom, LargestLogKeepsEveryEntry) {
  KeptLog log{.limit = sliding_log(kMaxLogAmount, 131'072), .most_places = kMaxLogAmount};
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < kMaxLogAmount; ++i) {
      const Instant now = kZero + seconds{131'072 * round + i};
      ASSERT_EQ(log.decide(1, now).outcome, Outcome::allowed) << i;
      if (i % 1000 == 0) {
        ASSERT_EQ(log.look(0, now).remaining, round == 0 ? kMaxLogAmount - i - 1 : 0u) << i;
      }
    }
    EXPECT_EQ(log_size(log.state), kMaxLogAmount);
    const Instant now = kZero + seconds{131'072 * round + 131'071};
    EXPECT_EQ(log.decide(1, now).retry_after, seconds{1});
    EXPECT_EQ(log.decide(kMaxLogAmount, now).retry_after, seconds{kMaxLogAmount});
  }
}

TEST(SlidingLogRoom, LongestWindowsAndLastInstantsFit) {
  const Instant last = Instant::max();
  for (const Instant start : {Instant::min(), kStateEpoch - seconds{5}, kStateEpoch, kOddInstant, last - kTick}) {
    for (const std::size_t places : {0u, 16u}) {
      KeptLog log{.limit = sliding_log(3, Limit::kMaxWindowSeconds), .most_places = places};
      EXPECT_EQ(log.decide(2, start).outcome, Outcome::allowed);
      EXPECT_EQ(log.decide(1, start + kTick).outcome, Outcome::allowed);
      const Decision refused = log.decide(2, start + kTick);
      EXPECT_EQ(refused.outcome, Outcome::denied);
      EXPECT_GT(refused.retry_after, Nanoseconds{0});
      EXPECT_GE(refused.reset_after, refused.retry_after);
      EXPECT_GE(fresh_at(log.limit, log.state, log.ring()), std::max(start, kStateEpoch));
      if (start < kStateEpoch || last - start <= refused.retry_after) continue;
      EXPECT_EQ(log.look(2, start + kTick + refused.retry_after - kTick).outcome, Outcome::denied);
      EXPECT_EQ(log.look(2, start + kTick + refused.retry_after).outcome, Outcome::allowed);
    }
  }
}

}  // namespace
}  // namespace penstock::algorithm::testing
