#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/testing/allocation_count.h"
#include "penstock/limiter/testing/limiter_test_base.h"

namespace penstock::limiter {
namespace {

using testing::Kept;
using testing::kNow;
using testing::LimiterTest;

constexpr const char* kRules = R"(
domain: d
descriptors:
  - {key: fixed_window, rate_limit: {unit: minute, requests_per_unit: 2, algorithm: fixed_window}}
  - {key: sliding_window, rate_limit: {unit: minute, requests_per_unit: 2, algorithm: sliding_window}}
  - {key: sliding_log, rate_limit: {unit: minute, requests_per_unit: 2, algorithm: sliding_log}}
  - {key: token_bucket, rate_limit: {unit: minute, requests_per_unit: 2, algorithm: token_bucket}}
  - {key: leaky_bucket, rate_limit: {unit: minute, requests_per_unit: 2, algorithm: leaky_bucket}}
  - {key: gcra, rate_limit: {unit: minute, requests_per_unit: 2, algorithm: gcra}}
  - {key: multiplied, rate_limit: {unit: minute, unit_multiplier: 5, requests_per_unit: 1}}
  - {key: spread, rate_limit: {unit: hour, requests_per_unit: 1, window_offset: per_key}}
  - key: peaked
    rate_limit:
      unit: hour
      requests_per_unit: 3600
      algorithm: gcra
      burst: 5
      peak: {unit: minute, requests_per_unit: 120, burst: 2}
  - {key: shaped, rate_limit: {unit: second, requests_per_unit: 4, algorithm: leaky_bucket, burst: 1, max_wait: 500ms}}
  - key: counting
    rate_limits:
      - {unit: minute, requests_per_unit: 6, algorithm: token_bucket, burst: 1, count_refused: true}
      - {unit: day, requests_per_unit: 100, algorithm: sliding_log}
  - key: mixed
    rate_limits:
      - {unit: minute, requests_per_unit: 3, algorithm: sliding_window}
      - {unit: second, requests_per_unit: 1, algorithm: gcra}
)";

class Algorithms : public LimiterTest {
 protected:
  Algorithms() { use(kRules); }
};

TEST_F(Algorithms, DecidesByEveryAlgorithm) {
  struct Case {
    std::string_view key;
    std::int64_t passed, refused;  // seconds until reset after the first hit, and when the third is refused
  };
  for (const Case& c : std::vector<Case>{{"fixed_window", 60, 60},
                                         {"sliding_window", 120, 90},  // 2 * (60 - 30) + 1 * 60 = 2 * 60
                                         {"sliding_log", 60, 60},
                                         {"token_bucket", 30, 30},
                                         {"leaky_bucket", 30, 30},
                                         {"gcra", 30, 30}}) {
    const Kept first = ask({{{{c.key, "x"}}}});
    EXPECT_EQ(first.overall, Code::ok) << c.key;
    EXPECT_EQ(first.statuses[0].remaining, 1u) << c.key;
    EXPECT_EQ(first.statuses[0].reset_seconds, c.passed) << c.key;
    EXPECT_EQ(ask({{{{c.key, "x"}}}}).statuses[0].remaining, 0u) << c.key;
    const Kept third = ask({{{{c.key, "x"}}}});
    EXPECT_EQ(third.overall, Code::over_limit) << c.key;
    EXPECT_EQ(third.statuses[0].reset_seconds, c.refused) << c.key;
    EXPECT_EQ(ask({{{{c.key, "other"}}}}).overall, Code::ok) << c.key;
    const Kept again = ask({{{{c.key, "x"}}}}, kNow + std::chrono::seconds{c.refused});
    EXPECT_EQ(again.overall, Code::ok) << c.key << ": the wait that it was told is enough";
  }
}

TEST_F(Algorithms, RemembersWhenEachHitOfASlidingLogCame) {
  const auto at = [](int seconds) { return kNow + std::chrono::seconds{seconds}; };
  EXPECT_EQ(ask({{{{"sliding_log", "x"}}}}).overall, Code::ok);
  EXPECT_EQ(ask({{{{"sliding_log", "x"}}}}, at(20)).overall, Code::ok);
  const Kept third = ask({{{{"sliding_log", "x"}}}}, at(30));
  EXPECT_EQ(third.overall, Code::over_limit);
  EXPECT_EQ(third.statuses[0].reset_seconds, 30) << "when the first is a minute old";
  EXPECT_EQ(ask({{{{"sliding_log", "x"}}}}, at(60)).overall, Code::ok);
  EXPECT_EQ(ask({{{{"sliding_log", "x"}}}}, at(79)).overall, Code::over_limit);
  EXPECT_EQ(ask({{{{"sliding_log", "x"}}}}, at(80)).overall, Code::ok);
}

TEST_F(Algorithms, AllocateNothingOnceWarm) {
  std::vector<std::vector<rules::Entry>> entries;
  for (const std::string_view key : {"fixed_window", "sliding_window", "sliding_log", "token_bucket", "leaky_bucket",
                                     "gcra", "multiplied", "spread", "peaked", "shaped", "counting", "mixed"}) {
    entries.push_back({{key, "x"}});
  }
  std::vector<Descriptor> descriptors;
  for (const std::vector<rules::Entry>& each : entries) descriptors.push_back({.entries = each});
  class Sink final : public VerdictSink {
   public:
    void on_verdict(std::uint64_t, const Verdict& verdict) override { over += verdict.overall == Code::over_limit; }
    int over = 0;
  } sink;
  const std::vector<Check> checks(8, Check{.domain = "d", .descriptors = descriptors, .accepts_wait = true});
  limiter_.decide(checks, kNow, sink);
  const std::uint64_t before = allocation_count();
  limiter_.decide(checks, kNow + std::chrono::seconds{1}, sink);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_GT(sink.over, 8);
}

TEST_F(Algorithms, CountsInWindowsOfSeveralUnits) {
  const auto at = [](int seconds) { return kNow + std::chrono::seconds{seconds}; };
  EXPECT_EQ(ask({{{{"multiplied", "x"}}}}).statuses[0].reset_seconds, 300);
  EXPECT_EQ(ask({{{{"multiplied", "x"}}}}, at(299)).overall, Code::over_limit);
  EXPECT_EQ(ask({{{{"multiplied", "x"}}}}, at(300)).overall, Code::ok);
}

TEST_F(Algorithms, EndsSpreadWindowsWhenItSaysAndNotAllAtOnce) {
  std::map<std::int64_t, int> ends;
  for (const std::string_view value : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    const Kept first = ask({{{{"spread", value}}}});
    const std::int64_t left = first.statuses[0].reset_seconds.value();
    ++ends[left];
    ASSERT_GE(left, 1);
    ASSERT_LE(left, 3600);
    const Kept early = ask({{{{"spread", value}}}}, kNow + std::chrono::seconds{left - 1});
    EXPECT_EQ(early.overall, Code::over_limit) << value;
    EXPECT_EQ(early.statuses[0].reset_seconds, 1) << value;
    EXPECT_EQ(ask({{{{"spread", value}}}}, kNow + std::chrono::seconds{left}).overall, Code::ok) << value;
  }
  EXPECT_GT(ends.size(), 4u);
}

TEST_F(Algorithms, HoldsBothRatesOfALimitWithAPeak) {
  EXPECT_EQ(ask({{.entries = {{"peaked", "x"}}, .hits = 3}}).overall, Code::over_limit);
  EXPECT_EQ(ask({{.entries = {{"peaked", "x"}}, .hits = 3}}).statuses[0].reset_seconds, std::nullopt)
      << "three at once never fit the peak";
  int passed = 0;
  for (int half_second = 0; half_second < 20; ++half_second) {
    const Instant now = kNow + half_second * std::chrono::milliseconds{500};
    for (int i = 0; i < 3; ++i) passed += ask({{{{"peaked", "x"}}}}, now).overall == Code::ok ? 1 : 0;
  }
  EXPECT_EQ(passed, 5 + 9) << "the burst of 5, and one a second for 9.5 seconds, never more than 2 at once";
}

TEST_F(Algorithms, AdmitsWhoCanWaitAndTellsTheWait) {
  const std::vector<rules::Entry> entries = {{"shaped", "x"}};
  const std::vector<Descriptor> descriptors = {{.entries = entries}};
  class Sink final : public VerdictSink {
   public:
    void on_verdict(std::uint64_t, const Verdict& verdict) override {
      overall = verdict.overall;
      wait = verdict.wait;
      reset_seconds = verdict.statuses[0].reset_seconds;
    }
    Code overall{};
    Nanoseconds wait{-1};
    std::optional<std::int64_t> reset_seconds;
  } sink;
  const auto told = [&](bool accepts_wait) {
    const Check check = {.domain = "d", .descriptors = descriptors, .accepts_wait = accepts_wait};
    limiter_.decide({&check, 1}, kNow, sink);
    return std::pair{sink.overall, sink.wait};
  };
  using std::chrono::milliseconds;
  EXPECT_EQ(told(true), (std::pair{Code::ok, Nanoseconds{0}}));
  EXPECT_EQ(told(false), (std::pair{Code::over_limit, Nanoseconds{0}})) << "who cannot wait is admitted only at once";
  EXPECT_EQ(told(true), (std::pair{Code::ok, Nanoseconds{milliseconds{250}}}));
  EXPECT_EQ(told(true), (std::pair{Code::ok, Nanoseconds{milliseconds{500}}}));
  EXPECT_EQ(told(true), (std::pair{Code::over_limit, Nanoseconds{0}})) << "750 ms are more than it may wait";
}

TEST_F(Algorithms, CountsWhatALimitOfAListRefusesWhereThatIsAsked) {
  const auto at = [](int seconds) { return kNow + std::chrono::seconds{seconds}; };
  EXPECT_EQ(ask({{{{"counting", "x"}}}}).overall, Code::ok);
  EXPECT_EQ(ask({{{{"counting", "x"}}}}, at(9)).overall, Code::over_limit);
  EXPECT_EQ(ask({{{{"counting", "x"}}}}, at(18)).overall, Code::over_limit) << "the refused hit began the wait anew";
  EXPECT_EQ(ask({{{{"counting", "x"}}}}, at(28)).overall, Code::ok);
  const Kept look = ask({{.entries = {{"counting", "x"}}, .hits = 0}}, at(60));
  EXPECT_EQ(look.overall, Code::ok);
}

TEST_F(Algorithms, ChargesAListOfDifferentAlgorithmsAllOrNothing) {
  const auto at = [](int seconds) { return kNow + std::chrono::seconds{seconds}; };
  EXPECT_EQ(ask({{{{"mixed", "x"}}}}).overall, Code::ok);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask({{{{"mixed", "x"}}}}).overall, Code::over_limit) << "one a second";
  EXPECT_EQ(ask({{{{"mixed", "x"}}}}, at(1)).overall, Code::ok);
  EXPECT_EQ(ask({{{{"mixed", "x"}}}}, at(2)).overall, Code::ok) << "what one limit refused the other did not count";
  const Kept fourth = ask({{{{"mixed", "x"}}}}, at(3));
  EXPECT_EQ(fourth.overall, Code::over_limit);
  EXPECT_EQ(fourth.statuses[0].limit->unit, rules::Unit::minute);
  EXPECT_EQ(fourth.statuses[0].reset_seconds, 77) << "3 * (60 - 20) + 1 * 60 = 3 * 60, at 80 s";
}

}  // namespace
}  // namespace penstock::limiter
