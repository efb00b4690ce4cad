// Faults that users of rate limiters reported, as far as they concern decisions: each a statement about what happens
// here. The numbers are those of the project's list of reports.

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/limiter/testing/limiter_test_base.h"

namespace penstock::limiter {
namespace {

using testing::Asked;
using testing::Kept;
using testing::kNow;
using testing::LimiterTest;

// BR-073
TEST_F(LimiterTest, AnUnlimitedDescriptorDoesNotLetTheRestOfTheRequestPass) {
  use(R"(
domain: d
descriptors:
  - {key: remote_address, value: 10.0.0.1, rate_limit: {unlimited: true}}
  - key: path
    value: /v2/dummy
    descriptors: [{key: remote_address, rate_limit: {unit: second, requests_per_unit: 5}}]
)");
  for (int hit = 1; hit <= 6; ++hit) {
    const Kept kept = ask({{.entries = {{"remote_address", "10.0.0.1"}}},
                           {.entries = {{"path", "/v2/dummy"}, {"remote_address", "10.0.0.1"}}}});
    EXPECT_EQ(kept.overall, hit <= 5 ? Code::ok : Code::over_limit) << hit;
    EXPECT_EQ(kept.statuses.at(0).code, Code::ok);
    EXPECT_EQ(kept.statuses.at(0).remaining, Status::kUnlimited);
    EXPECT_EQ(kept.statuses.at(0).limit, nullptr);
  }
}

// BR-077
TEST_F(LimiterTest, AReplacedLimitIsLeftAloneInThatRequestOnly) {
  use(R"(
domain: d
descriptors:
  - {key: category, value: account, rate_limit: {unit: minute, requests_per_unit: 4, replaces: [{name: bkthomps}]}}
  - key: foo
    descriptors: [{key: bar, value: bkthomps, rate_limit: {name: bkthomps, unit: minute, requests_per_unit: 1}}]
)");
  const Asked first = {.entries = {{"category", "account"}}};
  const Asked second = {.entries = {{"foo", "x"}, {"bar", "bkthomps"}}};
  for (int hit = 1; hit <= 5; ++hit) {
    const Kept kept = ask({first, second});
    EXPECT_EQ(kept.overall, hit <= 4 ? Code::ok : Code::over_limit) << hit;
    EXPECT_EQ(kept.statuses.at(1).limit, nullptr);
  }
  EXPECT_EQ(ask({second}).overall, Code::ok) << "its counter was untouched";
  EXPECT_EQ(ask({second}).overall, Code::over_limit);
}

// BR-081
TEST_F(LimiterTest, AnOverrideWithAnUnknownUnitIsAnErrorOfTheCallerAndNothingElse) {
  use("{domain: d, descriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 5}}]}");
  const auto with = [](std::uint32_t amount, std::int32_t unit) {
    return Asked{.entries = {{"k", "v"}}, .limit = Override{amount, unit}};
  };
  for (const std::int32_t unit : {0, 8, 99, -1}) {
    const Kept kept = ask({with(10, unit)});
    ASSERT_TRUE(kept.error) << unit;
    EXPECT_EQ(kept.error->code, ErrorCode::invalid_argument) << unit;
    EXPECT_EQ(ask({{.entries = {{"k", fmt::format("{}", unit)}}}}).overall, Code::ok) << "the next one is answered";
  }
  EXPECT_EQ(ask({with(0, 2)}).overall, Code::over_limit);
  EXPECT_EQ(ask({with(4'294'967'295, 6)}).overall, Code::ok);
}

// BR-083
TEST_F(LimiterTest, WhoWaitsAsLongAsItWasToldPasses) {
  const std::uint64_t seed = 83;
  Random random{seed};
  for (const char* algorithm :
       {"fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra"}) {
    use(
        fmt::format("{{domain: d, descriptors: [{{key: k, rate_limit: {{unit: second, unit_multiplier: 10, "
                    "requests_per_unit: 5, algorithm: {}}}}}]}}",
                    algorithm));
    for (int round = 0; round < 50; ++round) {
      const std::string key = fmt::format("{}{}", algorithm, round);
      const Asked hit = {.entries = {{"k", key}}};
      Instant now = kNow + Nanoseconds{static_cast<std::int64_t>(random.below(20'000'000'000))};
      Kept kept = ask({hit}, now);
      for (int tries = 0; kept.overall == Code::ok && tries < 100; ++tries) {
        now += Nanoseconds{static_cast<std::int64_t>(random.below(100'000'000))};
        kept = ask({hit}, now);
      }
      ASSERT_EQ(kept.overall, Code::over_limit) << key << ", seed " << seed;
      const std::int64_t seconds = kept.statuses.at(0).reset_seconds.value_or(0);
      ASSERT_GE(seconds, 1) << key << ", seed " << seed;
      // The hits of a full window still count in part when the next one begins, so there the wait may pass its end.
      ASSERT_LE(seconds, std::string_view{algorithm} == "sliding_window" ? 12 : 10) << key << ", seed " << seed;
      EXPECT_EQ(ask({hit}, now + std::chrono::seconds{seconds}).overall, Code::ok) << key << ", seed " << seed;
    }
  }
}

// BR-087: in CL.THROTTLE's terms burst 15 and a limit of 16.
TEST_F(LimiterTest, AFirstHitOnGcraIsToldTheResetThatIsExact) {
  use("{domain: d, descriptors: [{key: k, rate_limit: {unit: minute, requests_per_unit: 30, algorithm: gcra, burst: "
      "16}}]}");
  const Kept kept = ask({{.entries = {{"k", "v"}}}});
  EXPECT_EQ(kept.statuses.at(0).remaining, 15u);
  EXPECT_EQ(kept.statuses.at(0).reset_seconds, 2);
}

// BR-113
TEST_F(LimiterTest, HitsOfOneRequestAreSplitIntoWithinNearAndOver) {
  use("{domain: d, descriptors: [{key: k, rate_limit: {unit: minute, requests_per_unit: 20}}]}");
  const std::vector<std::tuple<std::uint64_t, Code, std::uint32_t>> steps = {
      {15, Code::ok, 5}, {4, Code::ok, 1}, {5, Code::over_limit, 0}, {3, Code::over_limit, 0}};
  for (const auto& [hits, code, remaining] : steps) {
    const Kept kept = ask({{.entries = {{"k", "v"}}, .hits = hits}});
    EXPECT_EQ(kept.overall, code) << hits;
    EXPECT_EQ(kept.statuses.at(0).remaining, remaining) << hits;
  }
  const RuleCounters& counted = counters("d.k");
  EXPECT_EQ(counted.total_hits.value(), 27u);
  EXPECT_EQ(counted.within_limit.value(), 19u);
  EXPECT_EQ(counted.near_limit.value(), 4u);
  EXPECT_EQ(counted.over_limit.value(), 7u);
}

}  // namespace
}  // namespace penstock::limiter
