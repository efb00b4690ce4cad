// What happens when too many checks wait for a store.

#include <algorithm>
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "penstock/limiter/limiter.h"
#include "penstock/rules/rule_set.h"
#include "penstock/store/store.h"

namespace penstock::limiter {
namespace {

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

// Takes everything and answers nothing.
class SilentStore final : public store::Store {
 public:
  void submit(const store::Batch& batch, Instant /*now*/, store::LateDecisions& /*late*/) override {
    std::ranges::fill(batch.decisions, algorithm::Decision{.outcome = algorithm::Outcome::pending});
  }
};

class CountVerdicts final : public VerdictSink {
 public:
  void on_verdict(std::uint64_t ticket, const Verdict& verdict) override {
    ++count;
    last_ticket = ticket;
    last_error = verdict.error == nullptr ? ErrorCode::ok : verdict.error->code;
  }
  std::uint64_t count = 0;
  std::uint64_t last_ticket = 0;
  ErrorCode last_error = ErrorCode::ok;
};

TEST(LimiterWaiting, BeyondTheMostIsRefusedAtOnceAndCounted) {
  const std::array sources{
      rules::Source{.name = "rules.yaml",
                    .text = "{domain: d, descriptors: [{key: user, rate_limit: {unit: day, requests_per_unit: 1}}]}"}};
  const auto loaded = rules::load(sources, {});
  ASSERT_TRUE(loaded);
  SilentStore store;
  Limiter limiter{store, {}};
  limiter.use_rules(loaded->rules);
  CountVerdicts sink;
  const std::array entries{rules::Entry{.key = "user", .value = "x"}};
  const std::array descriptors{Descriptor{.entries = entries}};
  const auto ask = [&](std::uint64_t ticket) {
    const Check check{.domain = "d", .descriptors = descriptors, .ticket = ticket};
    limiter.decide({&check, 1}, kNow, sink);
  };
  for (std::uint64_t ticket = 0; ticket < Limiter::kMaxWaiting; ++ticket) ask(ticket);
  EXPECT_EQ(sink.count, 0U);
  EXPECT_EQ(limiter.statistics().waiting_refused.value(), 0U);
  ask(Limiter::kMaxWaiting);
  EXPECT_EQ(sink.count, 1U);
  EXPECT_EQ(sink.last_ticket, Limiter::kMaxWaiting);
  EXPECT_EQ(sink.last_error, ErrorCode::resource_exhausted);
  EXPECT_EQ(limiter.statistics().waiting_refused.value(), 1U);
}

}  // namespace
}  // namespace penstock::limiter
