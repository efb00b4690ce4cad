#include "penstock/store/memory/log_keeper.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/base/testing/allocation_count.h"
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
using testing::kStart;
using testing::RecentCharges;

constexpr std::uint64_t kUnitBytes = 108;  // of a home, for 8 places

Limit log_of(std::uint32_t amount, std::int64_t length) {
  return Limit::create({.algorithm = algorithm::Algorithm::sliding_log, .amount = amount, .window_seconds = length})
      .value();
}

// Logs by number, one to a bucket, and nobody else about.
class Shelf {
 public:
  Shelf(std::size_t logs, std::uint64_t places)
      : home_{LogHome::create(places / LogHome::kMinPlaces * kUnitBytes).value()}, records_(logs) {}

  Decision apply(std::uint32_t number, const Limit& limit, Verb verb, std::uint64_t cost, Instant now) {
    Record& kept = records_[number];
    const auto give_up = [&](const LogHome::Owned& ring) { return ring.owner != number && give_up_ring(ring, now); };
    kept.state = keeper_.ready(limit, kept, {.bucket = number, .now = now, .metrics = metrics}, give_up);
    Record record = kept;
    const Charge charge = {.counter = {}, .limit = &limit, .cost = cost};
    const Decision decision = apply_charge(record, charge, verb, now, tally_, keeper_.places(record));
    keeper_.replace(kept, record, metrics);
    kept = record;
    return decision;
  }
  Decision decide(std::uint32_t number, const Limit& limit, Instant now) {
    return apply(number, limit, Verb::decide, 1, now);
  }
  Decision look(std::uint32_t number, const Limit& limit, Instant now) {
    Record record = records_[number];
    const Charge charge = {.counter = {}, .limit = &limit, .cost = 0};
    return apply_charge(record, charge, Verb::look, now, tally_, keeper_.places(record));
  }
  void keep(std::uint32_t number, const Record& record) { records_[number] = record; }
  [[nodiscard]] std::size_t ring_size(std::uint32_t number) const { return keeper_.places(records_[number]).size(); }
  [[nodiscard]] LogHome::Usage in_use() const { return home_->in_use(); }
  [[nodiscard]] LogHome::Usage counted() const {
    return {.rings = metrics.log_rings_taken.value() - metrics.log_rings_returned.value(),
            .bytes = metrics.log_bytes_taken.value() - metrics.log_bytes_returned.value()};
  }

  MemoryStoreMetrics metrics;

 private:
  bool give_up_ring(const LogHome::Owned& ring, Instant now) {
    Record& record = records_[ring.owner];
    if (LogKeeper::ring_of(record) != ring.ring || !expired(record, coarse_second(now))) return false;
    keeper_.release(record, metrics);
    record = {};
    return true;
  }

  std::unique_ptr<LogHome> home_;
  LogKeeper keeper_{*home_};
  std::vector<Record> records_;
  ReadTally tally_;
};

TEST(LogKeeper, LogGetsARingWithItsSecondEntryAndALargerOneWhenThatIsFull) {
  const Limit limit = log_of(1000, 3600);
  Shelf shelf{1, 10'000};
  std::size_t expected = 0;
  for (std::size_t entry = 1; entry <= 1000; ++entry) {
    ASSERT_EQ(shelf.decide(0, limit, kStart + seconds{entry}).outcome, Outcome::allowed);
    if (entry == 2) expected = 8;
    if (entry > expected && entry > 2) expected *= 2;
    ASSERT_EQ(shelf.ring_size(0), expected) << entry;
  }
  EXPECT_EQ(shelf.in_use().rings, 1u) << "the smaller ones were given back";
  EXPECT_EQ(shelf.counted().bytes, 1024u * 12);
  EXPECT_EQ(shelf.decide(0, limit, kStart + seconds{1001}).outcome, Outcome::denied);
  EXPECT_EQ(shelf.ring_size(0), 1024u);
  EXPECT_EQ(shelf.metrics.logs_folded.value(), 0u);
}

TEST(LogKeeper, LogThatIsFreshAgainGivesItsRingBack) {
  const Limit limit = log_of(10, 60);
  Shelf shelf{1, 100};
  for (int second = 0; second < 5; ++second) shelf.decide(0, limit, kStart + seconds{second});
  EXPECT_EQ(shelf.in_use().rings, 1u);
  shelf.apply(0, limit, Verb::refund, 100, kStart + seconds{5});
  EXPECT_EQ(shelf.in_use().rings, 0u);
  EXPECT_EQ(shelf.counted().bytes, 0u);
}

TEST(LogKeeper, LogThatNeedsFarLessThanItHasChangesToASmallerRing) {
  const Limit limit = log_of(1000, 60);
  Shelf shelf{1, 10'000};
  for (int i = 0; i < 1000; ++i) shelf.decide(0, limit, kStart + milliseconds{i});
  EXPECT_EQ(shelf.ring_size(0), 1024u);
  const Instant later = kStart + seconds{100};
  for (int i = 0; i < 20; ++i) shelf.decide(0, limit, later + milliseconds{i});
  EXPECT_LE(shelf.ring_size(0), 64u);
  EXPECT_EQ(shelf.look(0, limit, later + milliseconds{20}).remaining, 980u);
}

TEST(LogKeeper, RingsComeFromLogsThatAreFreshBeforeALogFolds) {
  const Limit limit = log_of(100, 60);
  Shelf shelf{20, 160};  // a ring of 8 places for each
  const auto twice = [&](std::uint32_t number, Instant now) {
    shelf.decide(number, limit, now);
    shelf.decide(number, limit, now + milliseconds{1});
  };
  for (std::uint32_t log = 0; log < 10; ++log) twice(log, kStart);
  const Instant later = kStart + seconds{62};
  for (std::uint32_t log = 10; log < 20; ++log) twice(log, later);
  for (std::uint32_t log = 10; log < 18; ++log) {
    for (int i = 2; i < 16; ++i) shelf.decide(log, limit, later + milliseconds{i});
  }
  EXPECT_GE(shelf.metrics.logs_reclaimed.value(), 6u);
  EXPECT_LE(shelf.in_use().bytes, 160u * 12);
  EXPECT_EQ(shelf.in_use().rings, shelf.counted().rings);
  EXPECT_EQ(shelf.in_use().bytes, shelf.counted().bytes);
}

TEST(LogKeeper, LogThatFindsNoRingFoldsAndNeverAdmitsMore) {
  const Limit limit = log_of(100, 60);
  for (const std::uint64_t places : {0u, 8u, 16u}) {
    Shelf shelf{1, places};
    std::uint32_t admitted = 0;
    for (int i = 0; i < 600; ++i) {
      admitted += shelf.decide(0, limit, kStart + milliseconds{100 * i}).outcome == Outcome::allowed;
    }
    EXPECT_EQ(admitted, 100u) << places;
    EXPECT_GT(shelf.metrics.logs_folded.value(), 0u) << places;
    EXPECT_EQ(shelf.ring_size(0), std::min<std::size_t>(places, 8));  // a larger one does not fit beside it
  }
}

TEST(LogKeeper, RecordOfAnotherAlgorithmIsLeftAloneAndReplaced) {
  const Limit limit = log_of(10, 60);
  Shelf shelf{1, 100};
  shelf.keep(0, {.state = {.word = ~std::uint64_t{0}, .second = ~std::uint64_t{0}}, .fresh_second = 1, .kind = 2});
  EXPECT_EQ(shelf.decide(0, limit, kStart).remaining, 9u);
  EXPECT_EQ(shelf.decide(0, limit, kStart + seconds{1}).remaining, 8u);
  EXPECT_EQ(shelf.in_use().rings, 1u);
}

TEST(LogKeeper, TenThousandLogsInASmallHomeStayWithinItAndNeverAdmitMore) {
  constexpr std::uint32_t kLogs = 10'000;
  const Limit limit = log_of(12, 60);
  Shelf shelf{kLogs, 16'384};
  RecentCharges recent{kLogs, seconds{60}};
  Random random{1};
  Instant now = kStart;
  for (int step = 0; step < 300'000; ++step) {
    now += milliseconds{random.below(3)};
    const auto log = static_cast<std::uint32_t>(random.below(random.below(4) == 0 ? kLogs : kLogs / 50));
    if (shelf.decide(log, limit, now).outcome == Outcome::allowed) {
      ASSERT_LE(recent.add(log, now), limit.amount()) << "log " << log << " step " << step;
    }
  }
  EXPECT_LE(shelf.in_use().bytes, 16'384u * 12);
  EXPECT_EQ(shelf.in_use().bytes, shelf.counted().bytes);
  EXPECT_EQ(shelf.in_use().rings, shelf.counted().rings);
  EXPECT_GT(shelf.metrics.logs_folded.value(), 0u);
  EXPECT_GT(shelf.metrics.logs_reclaimed.value(), 0u);
}

TEST(LogKeeper, AllocatesNothing) {
  const Limit limit = log_of(100, 60);
  Shelf shelf{10, 1000};
  const std::uint64_t before = allocation_count();
  for (int i = 0; i < 2000; ++i) shelf.decide(static_cast<std::uint32_t>(i % 10), limit, kStart + milliseconds{70 * i});
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace penstock::store
