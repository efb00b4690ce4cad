// The conformance suite against a real Redis, at instants of the test's choice.

#include <memory>

#include <gtest/gtest.h>

#include "penstock/store/redis/testing/redis_bench.h"
#include "penstock/store/testing/conformance_algorithms.h"
#include "penstock/store/testing/conformance_counters.h"
#include "penstock/store/testing/conformance_groups.h"
#include "penstock/store/testing/conformance_logs.h"

namespace penstock::store::testing {
namespace {

class RedisSubject final : public Subject, private Store {
 public:
  Store& store() override { return *this; }
  void answer_pending() override { bench_.answer_pending(now_); }
  [[nodiscard]] Nanoseconds tick() const override { return std::chrono::microseconds{1}; }
  [[nodiscard]] bool names_windows() const override { return true; }

 private:
  void submit(const Batch& batch, Instant now, LateDecisions& late) override {
    now_ = now;
    bench_.store().submit(batch, now, late);
  }

  redis::testing::RedisBench bench_;
  Instant now_ = kStart;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance,
                         ::testing::Values(SubjectFactory{.name = "Redis",
                                                          .create = [] { return std::make_unique<RedisSubject>(); }}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace penstock::store::testing
