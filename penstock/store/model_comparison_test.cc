// Random groups against the embedded store and against the model: every decision must be equal in every field.

#include <cstddef>
#include <cstdint>
#include <memory>
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
  return {.low = half << 32 | half, .high = number};
}

class RandomGroups {
 public:
  explicit RandomGroups(std::uint64_t seed) : random_{seed} {
    for (const std::uint32_t amount : {3u, 10u, 1000u}) {
      windows_.push_back(window(amount, 10, amount == 10));
      for (const std::int64_t seconds : {1, 7, 60}) buckets_.push_back(gcra(amount, seconds, amount / 2 + 1));
    }
  }

  std::vector<GroupOf> next_batch(Instant now) {
    std::vector<GroupOf> groups(1 + random_.below(4));
    for (GroupOf& group : groups) {
      group.mode = static_cast<GroupMode>(random_.below(3));
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
      case 1: return -Nanoseconds{static_cast<std::int64_t>(random_.below(15'000'000'000))};
      case 2: return Nanoseconds{static_cast<std::int64_t>(random_.below(40'000'000'000))};
      default: return Nanoseconds{static_cast<std::int64_t>(random_.below(700'000'000))};
    }
  }

 private:
  // A counter's algorithm and window are part of its identity, its amounts are not.
  Charge next_charge(Instant now) {
    const std::uint64_t number = random_.below(kCounters);
    const auto& limits = number % 2 == 0 ? windows_ : buckets_;
    Charge charge = {.counter = lone_counter(number), .limit = &limits[random_.below(limits.size())]};
    charge.cost = random_.below(20) == 0 ? random_.next() : random_.below(6);
    charge.observer = random_.below(6) == 0;
    if (random_.below(4) == 0)
      charge.charged_at = now - Nanoseconds{static_cast<std::int64_t>(random_.below(20'000'000'000))};
    return charge;
  }

  Random random_;
  std::vector<algorithm::Limit> windows_;
  std::vector<algorithm::Limit> buckets_;
};

class ModelComparison : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ModelComparison, EmbeddedStoreDecidesAsTheModel) {
  SCOPED_TRACE(::testing::Message() << "seed " << GetParam());
  RandomGroups source{GetParam()};
  MemoryStore memory{std::shared_ptr<Table>{Table::create({.capacity_keys = 10'000}).value()}};
  ModelStore model;
  Ledger memory_ledger{memory}, model_ledger{model};
  Instant now = kStart;
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
  EXPECT_EQ(memory.metrics().inserted.value() - memory.metrics().emptied.value(), model.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelComparison, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace penstock::store::testing
