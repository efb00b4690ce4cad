// Random groups against a real Redis and against the model, at whole microseconds: every decision must be the same, but
// for waits, which the script rounds up to microseconds.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/redis/testing/redis_bench.h"
#include "penstock/store/testing/conformance.h"
#include "penstock/store/testing/model_store.h"

namespace penstock::store::redis::testing {
namespace {

using algorithm::Algorithm;
using algorithm::Decision;
using algorithm::Limit;
using algorithm::LimitOptions;
using algorithm::Verb;
using std::chrono::microseconds;
using store::testing::describe;
using store::testing::GroupOf;
using store::testing::kStart;
using store::testing::Ledger;
using store::testing::ModelStore;

constexpr std::uint32_t kBillion = 1'000'000'000;

// One limit for each counter.
std::vector<Limit> limits() {
  const auto rate = [](Algorithm algorithm, std::uint32_t amount, std::int64_t seconds, std::uint32_t burst) {
    return LimitOptions{.algorithm = algorithm, .amount = amount, .window_seconds = seconds, .burst = burst};
  };
  std::vector<LimitOptions> options = {
      rate(Algorithm::fixed_window, 10, 7, 0),
      rate(Algorithm::fixed_window, kBillion, 7, 0),
      rate(Algorithm::sliding_window, 10, 7, 0),
      rate(Algorithm::sliding_window, 1'000'003, 3'600, 0),
      rate(Algorithm::gcra, 7, 1, 7),
      rate(Algorithm::gcra, 997, 60, 13),
      rate(Algorithm::token_bucket, 999'999, 60, 50),
      rate(Algorithm::token_bucket, 13, 3'600, 3),
      rate(Algorithm::gcra, 700'000, 86'400, 100),
      rate(Algorithm::sliding_log, 10, 7, 0),
      rate(Algorithm::sliding_log, 100, 60, 0),
      rate(Algorithm::leaky_bucket, 7, 3, 2),
      rate(Algorithm::gcra, 100, 60, 20),
      rate(Algorithm::gcra, kBillion, 1, 1'000'000),
  };
  options[11].max_wait = std::chrono::seconds{2};
  options[12].peak = {.amount = 3, .window_seconds = 1, .burst = 4};
  std::vector<Limit> all;
  for (std::size_t i = 0; i < options.size(); ++i) {
    for (const bool counts_refused : {false, true}) {
      options[i].count_refused = counts_refused;
      options[i].spread_windows = counts_refused && i >= 2 && is_window(options[i].algorithm);
      all.push_back(Limit::create(options[i]).value());
    }
  }
  options[0].spread_windows = true;
  all.push_back(Limit::create(options[0]).value());
  return all;
}

// The part of a counter's hash that makes its windows begin so much earlier, where they are spread.
std::uint64_t spread_by(Nanoseconds offset, const Limit& limit) {
  __extension__ using Wide = unsigned __int128;
  const auto window = static_cast<Wide>(limit.window_seconds()) * kNanosecondsPerSecond;
  return static_cast<std::uint64_t>((static_cast<Wide>(offset.count()) << 64) / window + 1);
}

class RandomGroups {
 public:
  explicit RandomGroups(std::uint64_t seed) : random_{seed} {}

  GroupOf next(Instant now) {
    GroupOf group = {.mode = static_cast<GroupMode>(random_.below(4)), .charges = {}};
    group.verb = random_.below(3) > 0 ? Verb::decide : static_cast<Verb>(random_.below(4));
    group.charges.resize(1 + random_.below(4));
    for (Charge& charge : group.charges) charge = next_charge(now, group.verb);
    return group;
  }

  Nanoseconds next_step() {
    constexpr std::uint64_t kLongest[] = {1, 1'000, 700'000, 700'000, 5'000'000, 40'000'000};
    return microseconds{random_.below(kLongest[random_.below(std::size(kLongest))])};
  }

 private:
  Charge next_charge(Instant now, Verb verb) {
    const std::uint64_t number = random_.below(limits_.size());
    const Limit& limit = limits_[number];
    Charge charge = {.counter = {.low = number, .high = spread_by(microseconds{number * 77'777}, limit)},
                     .limit = &limit};
    charge.cost = next_cost(limit.capacity());
    charge.observer = random_.below(6) == 0;
    charge.accepts_wait = random_.below(3) == 0;
    if (verb == Verb::refund && random_.below(3) == 0) charge.charged_at = now - microseconds{random_.below(8'000'000)};
    return charge;
  }

  std::uint64_t next_cost(std::uint32_t capacity) {
    switch (random_.below(20)) {
      case 0: return random_.next() >> random_.below(64);
      case 1: return capacity;
      case 2: return capacity / 2 + 1;
      case 3: return 0;
      default: return 1 + random_.below(1 + capacity / 5);
    }
  }

  const std::vector<Limit> limits_ = limits();
  Random random_;
};

// A wait as the script tells it, in whole microseconds. Of a bucket it may be one more: the model reads the time in
// ticks that may end just before it.
bool same_wait(Nanoseconds got, Nanoseconds expected) {
  if (expected <= Nanoseconds{0}) return got == expected;
  const auto up = [](Nanoseconds wait) { return Nanoseconds{std::chrono::ceil<microseconds>(wait)}; };
  return got == up(expected) || got == up(expected) + microseconds{1};
}

// Above every limit counts may differ: in Redis that of a named window has 63 bits, in the model 33, and the script
// weighs a former window that is so full in doubles.
bool same_count(const Decision& got, const Decision& expected) {
  constexpr std::uint64_t kAboveAll = std::uint64_t{1} << 32;
  if (got.count_before >= kAboveAll && expected.count_before >= kAboveAll) return true;
  return got.count_before == expected.count_before && got.charged == expected.charged;
}

bool same(const Decision& got, const Decision& expected) {
  return got.outcome == expected.outcome && got.remaining == expected.remaining && same_count(got, expected) &&
         same_wait(got.retry_after, expected.retry_after) && same_wait(got.reset_after, expected.reset_after);
}

class OracleComparison : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(OracleComparison, RedisDecidesAsTheModel) {
  SCOPED_TRACE(::testing::Message() << "seed " << GetParam());
  RandomGroups source{GetParam()};
  RedisBench bench;
  ModelStore model;
  Ledger redis_ledger{bench.store()}, model_ledger{model};
  Instant now = std::chrono::floor<microseconds>(kStart) + microseconds{123'457};
  for (int round = 0; round < 1500; ++round) {
    now += source.next_step();
    const std::vector<GroupOf> groups = {source.next(now)};
    const std::size_t batch = redis_ledger.submit(groups, now);
    bench.answer_pending(now);
    model_ledger.submit(groups, now);
    const auto got = redis_ledger.decisions(batch), expected = model_ledger.decisions(batch);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(same(got[i], expected[i]))
          << "round " << round << " charge " << i << " of " << got.size() << ", mode "
          << static_cast<int>(groups[0].mode) << " verb " << static_cast<int>(groups[0].verb) << " cost "
          << groups[0].charges[i].cost << " of " << to_string(groups[0].charges[i].limit->algorithm()) << " "
          << groups[0].charges[i].limit->capacity() << "\n got      " << describe(got[i]) << "\n expected "
          << describe(expected[i]);
    }
  }
  EXPECT_EQ(bench.store().metrics().states_mistaken.value(), 0u);
  EXPECT_EQ(bench.store().metrics().states_rebuilt.value(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OracleComparison, ::testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace penstock::store::redis::testing
