// Sliding logs in the embedded store: where their rings come from, and where they go.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/base/testing/allocation_count.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/store/testing/conformance.h"
#include "penstock/store/testing/recent_charges.h"

namespace penstock::store {
namespace {

using algorithm::Decision;
using algorithm::Limit;
using algorithm::Outcome;
using algorithm::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::gcra;
using testing::kStart;
using testing::RecentCharges;
using testing::sliding_log;

constexpr std::uint64_t kSmallRings = 108;  // bytes of a home for a ring of 8 places

Hash128 counter_number(std::uint64_t number) {
  Random random{number};
  return {.low = random.next(), .high = random.next()};
}

struct Fixture final : LateDecisions {
  explicit Fixture(const TableOptions& options) : store{std::shared_ptr<Table>{Table::create(options).value()}} {}

  std::vector<Decision> submit(const Group& group, const std::vector<Charge>& charges, Instant now) {
    std::vector<Decision> decisions(charges.size());
    store.submit({.groups = {&group, 1}, .charges = charges, .decisions = decisions}, now, *this);
    return decisions;
  }
  Decision apply(Verb verb, const Charge& charge, Instant now) {
    const Group group = {.charge_count = 1, .verb = verb};
    Decision decision;
    store.submit({.groups = {&group, 1}, .charges = {&charge, 1}, .decisions = {&decision, 1}}, now, *this);
    return decision;
  }
  Decision decide(std::uint64_t number, const Limit& limit, Instant now) {
    return apply(Verb::decide, {.counter = counter_number(number), .limit = &limit, .cost = 1}, now);
  }
  void on_decided(const Ticket&, std::span<const Decision>) override { ADD_FAILURE() << "nothing is answered late"; }

  [[nodiscard]] std::uint64_t rings() const {
    return store.metrics().log_rings_taken.value() - store.metrics().log_rings_returned.value();
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return store.metrics().log_bytes_taken.value() - store.metrics().log_bytes_returned.value();
  }

  MemoryStore store;
};

TEST(MemoryLogs, SizeOfTheHomeOutOfRangeIsNamed) {
  const auto table = Table::create({.capacity_keys = 100, .log_bytes = LogHome::kMaxBytes + 1});
  ASSERT_FALSE(table.has_value());
  EXPECT_EQ(table.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(table.error().message.find("0 to 400000000000"), std::string::npos) << table.error().message;
}

TEST(MemoryLogs, LogTakesTwelveBytesAnEntryRoundedUpToAPowerOfTwo) {
  for (const auto& [amount, places] : {std::pair{1u, 0u}, {10u, 16u}, {100u, 128u}, {1000u, 1024u}}) {
    const Limit limit = sliding_log(amount, 3600);
    Fixture fixture{{.capacity_keys = 100}};
    for (std::uint32_t i = 0; i < amount; ++i) fixture.decide(1, limit, kStart + seconds{i});
    EXPECT_EQ(fixture.decide(1, limit, kStart + seconds{amount}).outcome, Outcome::denied);
    EXPECT_EQ(fixture.bytes(), places * 12) << amount;
  }
}

TEST(MemoryLogs, RingIsGivenBackByWhoIsPushedOut) {
  const Limit limit = sliding_log(100, 3600);
  Fixture fixture{{.capacity_keys = 20}};
  for (std::uint64_t log = 0; log < 1000; ++log) {
    for (int i = 0; i < 3; ++i) fixture.decide(log, limit, kStart + milliseconds{i});
  }
  EXPECT_GT(fixture.store.metrics().evicted.value(), 900u);
  EXPECT_LE(fixture.rings(), 20u);
  EXPECT_GE(fixture.rings(), 5u);
}

TEST(MemoryLogs, RingIsGivenBackByWhoIsFresh) {
  const Limit limit = sliding_log(100, 60);
  Fixture fixture{{.capacity_keys = 20}};
  Instant now = kStart;
  for (std::uint64_t log = 0; log < 1000; ++log, now += seconds{20}) {
    for (int i = 0; i < 3; ++i) fixture.decide(log, limit, now + milliseconds{i});
  }
  EXPECT_LE(fixture.rings(), 20u);
  fixture.apply(Verb::refund, {.counter = counter_number(999), .limit = &limit, .cost = 3}, now - seconds{20});
  const std::uint64_t before = fixture.rings();
  for (int i = 0; i < 3; ++i) fixture.decide(1000, limit, now + milliseconds{i});
  fixture.apply(Verb::refund, {.counter = counter_number(1000), .limit = &limit, .cost = 3}, now + seconds{1});
  EXPECT_LE(fixture.rings(), before);
}

TEST(MemoryLogs, CounterOfAnotherAlgorithmOnOneHashGivesTheRingBack) {
  const Limit log = sliding_log(100, 60), bucket = gcra(100, 60, 100);
  Fixture fixture{{.capacity_keys = 20}};
  for (int i = 0; i < 3; ++i) fixture.decide(1, log, kStart + milliseconds{i});
  EXPECT_EQ(fixture.rings(), 1u);
  EXPECT_EQ(fixture.decide(1, bucket, kStart + seconds{1}).remaining, 99u);
  EXPECT_EQ(fixture.rings(), 0u);
  EXPECT_EQ(fixture.decide(1, log, kStart + seconds{2}).remaining, 99u);
}

TEST(MemoryLogs, FullHomeTakesRingsFromFreshLogsAndFoldsOthers) {
  const Limit limit = sliding_log(100, 60);
  Fixture fixture{{.capacity_keys = 1000, .log_bytes = 10 * kSmallRings}};
  for (std::uint64_t log = 0; log < 20; ++log) {
    for (int i = 0; i < 3; ++i) fixture.decide(log, limit, kStart + milliseconds{i});
  }
  EXPECT_EQ(fixture.rings(), 10u);
  EXPECT_EQ(fixture.store.metrics().logs_folded.value(), 20u) << "two charges of each of the last ten";
  const Instant later = kStart + seconds{62};
  for (std::uint64_t log = 100; log < 110; ++log) {
    for (int i = 0; i < 3; ++i) fixture.decide(log, limit, later + milliseconds{i});
  }
  EXPECT_GE(fixture.store.metrics().logs_reclaimed.value(), 5u) << "but for those met in the bucket of a newcomer";
  EXPECT_EQ(fixture.store.metrics().logs_folded.value(), 20u);
}

// Also where nobody has met their buckets in this unit of time: then looking at them is what empties them.
TEST(MemoryLogs, FreshLogsGiveTheirRingsBackHoweverLongAgoTheyWereMet) {
  const Limit limit = sliding_log(100, 60);
  for (const auto later : {seconds{200}, seconds{4'000}, seconds{9'000}, seconds{20'000}, seconds{40'000'000}}) {
    Fixture fixture{{.capacity_keys = 100'000, .log_bytes = 16 * kSmallRings}};
    for (std::uint64_t log = 0; log < 16; ++log) {
      for (int i = 0; i < 3; ++i) fixture.decide(log, limit, kStart + milliseconds{i});
    }
    ASSERT_EQ(fixture.rings(), 16u);
    for (int i = 0; i < 3; ++i) fixture.decide(1'000, limit, kStart + later + milliseconds{i});
    EXPECT_EQ(fixture.store.metrics().logs_folded.value(), 0u) << later.count();
    EXPECT_GE(fixture.store.metrics().logs_reclaimed.value(), 1u) << later.count();
  }
}

TEST(MemoryLogs, TenThousandLogsInASmallHomeStayWithinItAndNeverAdmitMore) {
  constexpr std::uint64_t kLogs = 10'000, kHome = 2000 * kSmallRings;
  const Limit limit = sliding_log(12, 60), bucket = gcra(1, 60, 1);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Fixture fixture{{.capacity_keys = 200'000, .log_bytes = kHome}};
    RecentCharges recent{kLogs, seconds{60}};
    Random random{seed};
    Instant now = kStart;
    for (int step = 0; step < 100'000; ++step) {
      now += milliseconds{random.below(3)};
      const auto next = [&] { return random.below(random.below(4) == 0 ? kLogs : kLogs / 50); };
      const std::uint64_t log = next();
      if (random.below(4) > 0) {
        if (fixture.decide(log, limit, now).outcome == Outcome::allowed) {
          ASSERT_LE(recent.add(log, now), limit.amount()) << "log " << log << " step " << step;
        }
        continue;
      }
      const std::uint64_t other = next(), one = kLogs + random.below(100);
      const auto decisions = fixture.submit({.charge_count = 3, .mode = GroupMode::all_or_nothing},
                                            {{.counter = counter_number(log), .limit = &limit, .cost = 1},
                                             {.counter = counter_number(other), .limit = &limit, .cost = 1},
                                             {.counter = counter_number(one), .limit = &bucket, .cost = 1}},
                                            now);
      if (!decisions[0].charged) continue;
      ASSERT_LE(recent.add(log, now), limit.amount()) << "log " << log << " step " << step;
      ASSERT_LE(recent.add(other, now), limit.amount()) << "log " << other << " step " << step;
    }
    EXPECT_EQ(fixture.store.metrics().evicted.value(), 0u);
    EXPECT_LE(fixture.bytes(), kHome);
    EXPECT_GT(fixture.bytes(), kHome / 2);
    EXPECT_GT(fixture.store.metrics().logs_folded.value(), 0u);
    EXPECT_GT(fixture.store.metrics().logs_reclaimed.value(), 0u);
  }
}

TEST(MemoryLogs, AllocateNothing) {
  const Limit limit = sliding_log(100, 10);
  Fixture fixture{{.capacity_keys = 100, .log_bytes = 100 * kSmallRings}};
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 5000; ++i)
    fixture.decide(static_cast<std::uint64_t>(i % 30), limit, kStart + milliseconds{7 * i});
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace penstock::store
