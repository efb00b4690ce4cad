// Random groups against the embedded store and against the model: every decision must be equal in every field.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/store/testing/conformance.h"
#include "penstock/store/testing/ledger.h"
#include "penstock/store/testing/model_store.h"

namespace penstock::store::testing {
namespace {

using algorithm::Verb;

constexpr std::size_t kCounters = 16;

// Counters that share no bucket, so that the embedded store forgets nothing that the model remembers.
Hash128 lone_counter(std::uint64_t number) {
  const std::uint64_t half = number << 28 | 1 << 20;
  return {.low = half << 32 | half, .high = number * 0x9e37'79b9'7f4a'7c15};
}

// With logs the clock only goes on: where it steps back, what a log has forgotten since depends on its room.
enum class Counters : std::uint8_t { windows_and_buckets, logs_as_well };

using algorithm::Algorithm;
using algorithm::Limit;
using algorithm::LimitOptions;

// The limits that one counter may have in turn: its algorithm and window are part of its identity, its amounts are not.
using Limits = std::vector<Limit>;

Limits of_kind(const LimitOptions& base, const std::vector<std::int64_t>& lengths) {
  Limits limits;
  for (const std::uint32_t amount : {3u, 10u, 1000u}) {
    for (const std::int64_t seconds : lengths) {
      LimitOptions options = base;
      options.amount = amount;
      options.window_seconds = seconds;
      options.burst = amount / 2 + 1;
      options.count_refused = amount == 10;
      limits.push_back(Limit::create(options).value());
    }
  }
  return limits;
}

class RandomGroups {
 public:
  RandomGroups(std::uint64_t seed, Counters counters) : random_{seed}, with_logs_{counters == Counters::logs_as_well} {
    const std::vector<std::int64_t> any = {1, 7, 60};
    kinds_.push_back(of_kind({}, {10}));
    kinds_.push_back(of_kind({.algorithm = Algorithm::gcra}, any));
    kinds_.push_back(of_kind({.algorithm = Algorithm::sliding_window}, {10}));
    kinds_.push_back(of_kind({.algorithm = Algorithm::leaky_bucket, .max_wait = std::chrono::seconds{2}}, any));
    // What was over under a shorter window may be gone.
    if (with_logs_) kinds_.push_back(of_kind({.algorithm = Algorithm::sliding_log}, {30}));
    kinds_.push_back(of_kind({.spread_windows = true}, {10}));
    kinds_.push_back(of_kind({.algorithm = Algorithm::sliding_window, .spread_windows = true}, {7}));
    const LimitOptions plain = {.algorithm = Algorithm::token_bucket};
    LimitOptions with_peak = plain;
    with_peak.peak = {.amount = 5, .window_seconds = 2, .burst = 3};
    kinds_.push_back(of_kind(with_peak, any));
    const Limits without = of_kind(plain, any);
    kinds_.back().insert(kinds_.back().end(), without.begin(), without.end());
  }

  std::vector<GroupOf> next_batch(Instant now) {
    std::vector<GroupOf> groups(1 + random_.below(4));
    for (GroupOf& group : groups) {
      group.mode = static_cast<GroupMode>(random_.below(4));
      group.verb = random_.below(3) > 0 ? Verb::decide : static_cast<Verb>(random_.below(4));
      group.charges.resize(1 + random_.below(4));
      for (Charge& charge : group.charges) charge = next_charge(now);
    }
    return groups;
  }

  // Mostly small steps, sometimes none, sometimes long ones, sometimes back.
  Nanoseconds next_step() {
    switch (random_.below(8)) {
      case 0: return Nanoseconds{0};
      case 1: return Nanoseconds{static_cast<std::int64_t>(random_.below(15'000'000'000)) * (with_logs_ ? 1 : -1)};
      case 2: return Nanoseconds{static_cast<std::int64_t>(random_.below(40'000'000'000))};
      default: return Nanoseconds{static_cast<std::int64_t>(random_.below(700'000'000))};
    }
  }

 private:
  Charge next_charge(Instant now) {
    const std::uint64_t number = random_.below(kCounters);
    const Limits& limits = kinds_[number % kinds_.size()];
    Charge charge = {.counter = lone_counter(number), .limit = &limits[random_.below(limits.size())]};
    charge.cost = random_.below(20) == 0 ? random_.next() : random_.below(6);
    charge.observer = random_.below(6) == 0;
    charge.accepts_wait = random_.below(3) == 0;
    if (random_.below(4) == 0) {
      charge.charged_at = now - Nanoseconds{static_cast<std::int64_t>(random_.below(20'000'000'000))};
    }
    return charge;
  }

  Random random_;
  bool with_logs_;
  std::vector<Limits> kinds_;
};

class ModelComparison : public ::testing::TestWithParam<std::tuple<std::uint64_t, Counters>> {};

TEST_P(ModelComparison, EmbeddedStoreDecidesAsTheModel) {
  const auto& [seed, counters] = GetParam();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  RandomGroups source{seed, counters};
  MemoryStore memory{std::shared_ptr<Table>{Table::create({.capacity_keys = 10'000}).value()}};
  ModelStore model;
  Ledger memory_ledger{memory}, model_ledger{model};
  // From here on no unit of coarse time begins for two hours: a clock that is set back behind such a beginning makes
  // the embedded store read instants up to so much later (note.h), which a change of limits shows.
  Instant now = kStart + std::chrono::hours{1};
  for (int round = 0; round < 1500; ++round) {
    now += source.next_step();
    const std::vector<GroupOf> groups = source.next_batch(now);
    const std::size_t batch = memory_ledger.submit(groups, now);
    model_ledger.submit(groups, now);
    const auto got = memory_ledger.decisions(batch), expected = model_ledger.decisions(batch);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], expected[i]) << "round " << round << " charge " << i << "\n got      " << describe(got[i])
                                     << "\n expected " << describe(expected[i]);
    }
  }
  EXPECT_EQ(memory.metrics().evicted.value(), 0u);
  EXPECT_EQ(memory.metrics().mistaken.value(), 0u);
  EXPECT_GT(memory.metrics().rebuilt.value(), 0u);
  const MemoryStoreMetrics& counts = memory.metrics();
  const std::uint64_t gone = counts.emptied.value() + counts.expired.value();
  EXPECT_LE(counts.inserted.value() - gone, model.size()) << "the model keeps also what is as good as fresh";
  EXPECT_GE(counts.inserted.value() - counts.emptied.value(), model.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelComparison,
                         ::testing::Combine(::testing::Range<std::uint64_t>(1, 21),
                                            ::testing::Values(Counters::windows_and_buckets, Counters::logs_as_well)));

}  // namespace
}  // namespace penstock::store::testing
