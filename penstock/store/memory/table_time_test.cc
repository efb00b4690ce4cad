// Coarse time in the table: what expires when, whatever clocks do.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/store/testing/conformance.h"

namespace penstock::store {
namespace {

using algorithm::Decision;
using algorithm::Limit;
using algorithm::Outcome;
using std::chrono::hours;
using std::chrono::seconds;
using testing::gcra;
using testing::kStart;
using testing::window;

constexpr seconds kUnit{8192};
constexpr auto kYear = hours{24 * 365};

Hash128 counter_number(std::uint64_t number) {
  Random random{number};
  return {.low = random.next(), .high = random.next()};
}

// The least table, two buckets, and a loop on it.
class Small final : LateDecisions {
 public:
  Outcome decide(std::uint64_t number, const Limit& limit, Instant now) {
    const Group group = {.charge_count = 1};
    const Charge charge = {.counter = counter_number(number), .limit = &limit, .cost = 1};
    Decision decision;
    store_.submit({.groups = {&group, 1}, .charges = {&charge, 1}, .decisions = {&decision, 1}}, now, *this);
    return decision.outcome;
  }
  [[nodiscard]] const MemoryStoreMetrics& metrics() const { return store_.metrics(); }
  [[nodiscard]] std::uint64_t live(Instant now) const { return table_->live_counters(now); }

 private:
  void on_decided(const Ticket&, std::span<const Decision>) override { ADD_FAILURE() << "nothing is answered late"; }

  const std::shared_ptr<Table> table_{Table::create({.capacity_keys = Table::kMinCapacityKeys}).value()};
  MemoryStore store_{table_};
};

TEST(TableTime, CountsAsLiveWhatIsNotFreshYet) {
  const Limit minute = gcra(1, 60, 1), hour = gcra(1, 3600, 1);
  Small table;
  for (std::uint64_t i = 0; i < 4; ++i) table.decide(i, i % 2 == 0 ? minute : hour, kStart);
  EXPECT_EQ(table.live(kStart), 4u);
  EXPECT_EQ(table.live(kStart + seconds{61}), 2u);
  EXPECT_EQ(table.live(kStart + seconds{3601}), 0u);
  EXPECT_EQ(table.live(kStart), 4u) << "counting changes nothing";
}

TEST(TableTime, EmptiesABucketOfWhatIsFreshWhenItIsMetInALaterUnit) {
  const Limit minute = gcra(1, 60, 1), month = gcra(1, 30 * 86'400, 1);
  Small table;
  for (std::uint64_t i = 0; i < 4; ++i) table.decide(i, minute, kStart);
  table.decide(9, month, kStart);
  for (std::uint64_t i = 20; i < 24; ++i) table.decide(i, minute, kStart + kUnit);
  EXPECT_EQ(table.metrics().expired.value(), 4u);
  EXPECT_EQ(table.decide(9, month, kStart + kUnit), Outcome::denied);
}

TEST(TableTime, NeitherLosesNorKeepsForTooLongWhateverTheLengthOfALimit) {
  for (const std::int64_t length :
       {1LL, 59LL, 3'600LL, 8'191LL, 8'192LL, 16'384LL, 86'400LL, 2'600'000LL, 31'536'000LL, 300'000'000LL}) {
    const Limit limit = gcra(1, length, 1);
    for (const std::int64_t visit : {length / 7, length / 2, length - 1}) {
      Small table;
      ASSERT_EQ(table.decide(1, limit, kStart), Outcome::allowed);
      table.decide(2, limit, kStart + seconds{visit});  // moves stamps
      EXPECT_EQ(table.decide(1, limit, kStart + seconds{length} - Nanoseconds{1}), Outcome::denied) << length;
      EXPECT_EQ(table.decide(1, limit, kStart + seconds{length}), Outcome::allowed) << length;
    }
  }
}

// Metering through units must not let an instant be read one turn of the ticks too early or too late.
TEST(TableTime, LongLimitsStayChargedThroughVisitsInEveryUnit) {
  const Limit year = gcra(1, 31'536'000, 1);
  Small table;
  ASSERT_EQ(table.decide(1, year, kStart), Outcome::allowed);
  for (Instant now = kStart; now < kStart + kYear - kUnit; now += kUnit) {
    ASSERT_EQ(table.decide(1, year, now), Outcome::denied) << "after " << (now - kStart) / kUnit << " units";
  }
  EXPECT_EQ(table.decide(1, year, kStart + kYear), Outcome::allowed);
}

TEST(TableTime, AClockThatIsSetBackLosesNothingThatWasCharged) {
  const Limit day = gcra(1, 86'400, 1), window_of_a_day = window(1, 86'400);
  for (const auto back : {seconds{1}, seconds{8'192}, seconds{86'400}, seconds{3 * 86'400}, seconds{400 * 86'400}}) {
    Small table;
    ASSERT_EQ(table.decide(1, day, kStart), Outcome::allowed);
    ASSERT_EQ(table.decide(2, window_of_a_day, kStart), Outcome::allowed);
    // Another counter makes the table see the time before the clock is set back, and its buckets after that.
    table.decide(3, day, kStart);
    for (std::uint64_t i = 10; i < 14; ++i) table.decide(i, day, kStart - back);
    EXPECT_NE(table.decide(1, day, kStart - back), Outcome::allowed) << back.count();
    EXPECT_NE(table.decide(2, window_of_a_day, kStart - back), Outcome::allowed) << back.count();
    EXPECT_EQ(table.metrics().expired.value(), 0u) << back.count();
  }
}

// The next bucket's beginning is crossed to and fro by loops whose clocks differ a little, without an end.
TEST(TableTime, ClocksThatDifferByALittleLoseNothingAtTheEdgeOfAUnit) {
  const Limit day = gcra(1, 86'400, 1);
  const Instant edge = kStateEpoch + 5'000 * kUnit;
  Small table;
  ASSERT_EQ(table.decide(1, day, edge), Outcome::allowed);
  for (int round = 0; round < 100; ++round) {
    table.decide(2, day, edge - Nanoseconds{1});
    EXPECT_EQ(table.decide(1, day, edge), Outcome::denied) << round;
  }
  EXPECT_EQ(table.decide(1, day, edge + seconds{86'399}), Outcome::denied);
}

// A clock that runs ahead and is set back must not turn expiry off: then those that are full and gone would push out
// the living for as long as the clock had been ahead, and these would start afresh.
TEST(TableTime, AClockThatRanAheadAndCameBackLeavesExpiryAsItWas) {
  const Limit hour = gcra(10, 3'600, 10), second = gcra(1, 1, 1);
  for (const auto ahead : {seconds{8'192}, seconds{3 * 8'192}, seconds{86'400}, seconds{7 * kYear}, seconds{9 * kYear},
                           seconds{12 * kYear}, seconds{29 * kYear}}) {
    Small table;
    for (std::uint64_t i = 100; i < 150; ++i) table.decide(i, second, kStart + ahead);
    std::uint32_t admitted = 0;
    Instant now = kStart;
    // Two counters a second come and go; fourteen slots are plenty for them and the one that stays.
    for (std::uint64_t i = 0; i < 12'000; ++i, now += std::chrono::milliseconds{500}) {
      table.decide(1'000 + i, second, now);
      if (i % 2 == 0) admitted += table.decide(1, hour, now) == Outcome::allowed ? 1 : 0;
    }
    const std::uint32_t most = ahead <= kUnit ? 1'000'000 : 10 + 10 * 6'000 / 3'600 + 10;
    EXPECT_LE(admitted, most) << ahead.count();
  }
}

TEST(TableTime, AClockThatRanAheadForYearsDoesNotMistakeWhatItDidNotMeet) {
  const Limit month = gcra(1, 30 * 86'400, 1);
  for (const int years : {1, 5, 8, 9, 20}) {
    Small table;
    ASSERT_EQ(table.decide(1, month, kStart), Outcome::allowed);
    // A look ahead at one counter; what lies in its buckets is emptied there or, from four years on, when the clock is
    // back; the other bucket is left alone.
    table.decide(2, month, kStart + years * kYear);
    const Outcome after = table.decide(1, month, kStart + hours{1});
    const std::uint64_t emptied = table.metrics().expired.value();
    EXPECT_EQ(after, emptied > 0 ? Outcome::allowed : Outcome::denied) << years;
  }
}

TEST(TableTime, AStampThatWentRoundMakesACounterLookFreshLateButNotEarly) {
  const Limit month = gcra(1, 30 * 86'400, 1);
  Small table;
  ASSERT_EQ(table.decide(1, month, kStart), Outcome::allowed);
  const Instant much_later = kStart + 9 * kYear;
  EXPECT_EQ(table.decide(1, month, much_later), Outcome::allowed) << "the state itself is exact";
  EXPECT_EQ(table.decide(1, month, much_later + hours{1}), Outcome::denied);
}

// Its second word takes the place of what is fresh, not of a neighbour that is not.
TEST(TableTime, ACounterThatGrowsByAWordPushesNobodyOutWhereOthersAreFresh) {
  const Limit second = gcra(1, 1, 1), day = gcra(10, 86'400, 10);
  const Limit with_peak = Limit::create({.algorithm = algorithm::Algorithm::gcra,
                                         .amount = 10,
                                         .window_seconds = 86'400,
                                         .burst = 10,
                                         .peak = algorithm::PeakOptions{.amount = 5, .window_seconds = 1, .burst = 5}})
                              .value();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Small table;
    for (std::uint64_t i = 0; i < 4; ++i) table.decide(1'000 * seed + i, day, kStart);
    for (std::uint64_t i = 4; i < 13; ++i) table.decide(1'000 * seed + i, second, kStart);
    const std::uint64_t before = table.metrics().evicted.value();
    table.decide(1'000 * seed, with_peak, kStart + seconds{10});
    EXPECT_EQ(table.metrics().evicted.value(), before) << seed;
  }
}

TEST(TableTime, DecidesBeforeTheEpochAndAtTheEndOfTime) {
  const Limit limit = window(1, 60);
  Small table;
  for (const Instant now :
       {Instant::min(), kStateEpoch - hours{1}, kStateEpoch, Instant::max() - hours{1}, Instant::max()}) {
    const auto number = static_cast<std::uint64_t>(now.time_since_epoch().count());
    EXPECT_EQ(table.decide(number, limit, now), Outcome::allowed);
    EXPECT_EQ(table.decide(number, limit, now), Outcome::denied);
  }
}

}  // namespace
}  // namespace penstock::store
