#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/limit.h"
#include "penstock/store/store.h"
#include "penstock/store/testing/ledger.h"

// What every store must do: conformance_algorithms.h, conformance_counters.h, conformance_groups.h and
// conformance_logs.h, one test a behaviour. A test program includes them once and instantiates `StoreConformance` with
// a factory for each of its stores.

namespace penstock::store::testing {

// A store to be examined, empty, with what it needs to live.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual Store& store() = 0;
  virtual void answer_pending() {}  // makes the store answer everything that it has put off
  // The smallest time that the store tells apart.
  [[nodiscard]] virtual Nanoseconds tick() const { return Nanoseconds{1}; }
  // Whether fixed windows are told apart by the caller's clock, so that one that steps back is in the former window.
  [[nodiscard]] virtual bool names_windows() const { return false; }
};

struct SubjectFactory {
  std::string name;
  std::function<std::unique_ptr<Subject>()> create;
};

inline void PrintTo(const SubjectFactory& factory, std::ostream* out) { *out << factory.name; }

// 2026-03-04T05:06:07.000000008Z, in the middle of a minute.
inline constexpr Instant kStart = instant_from_unix_seconds(1'772'600'767) + Nanoseconds{8};

[[nodiscard]] inline algorithm::Limit window(std::uint32_t amount, std::int64_t seconds, bool count_refused = false) {
  return algorithm::Limit::create({.algorithm = algorithm::Algorithm::fixed_window,
                                   .amount = amount,
                                   .window_seconds = seconds,
                                   .count_refused = count_refused})
      .value();
}

[[nodiscard]] inline algorithm::Limit gcra(std::uint32_t amount, std::int64_t seconds, std::uint32_t burst) {
  return algorithm::Limit::create(
             {.algorithm = algorithm::Algorithm::gcra, .amount = amount, .window_seconds = seconds, .burst = burst})
      .value();
}

[[nodiscard]] inline algorithm::Limit sliding_log(std::uint32_t amount, std::int64_t seconds) {
  return algorithm::Limit::create(
             {.algorithm = algorithm::Algorithm::sliding_log, .amount = amount, .window_seconds = seconds})
      .value();
}

[[nodiscard]] inline Charge charge(const char* name, const algorithm::Limit& limit, std::uint64_t cost) {
  return {.counter = counter_named(name), .limit = &limit, .cost = cost};
}

[[nodiscard]] inline Charge observing(Charge charge) {
  charge.observer = true;
  return charge;
}

class StoreConformance : public ::testing::TestWithParam<SubjectFactory> {
 protected:
  using Decisions = std::vector<algorithm::Decision>;

  Decisions submit(const std::vector<GroupOf>& groups, Instant now) {
    const std::size_t batch = ledger_.submit(groups, now);
    subject_->answer_pending();
    EXPECT_EQ(ledger_.pending(), 0u) << "a group was never answered";
    EXPECT_EQ(ledger_.wrong_answers(), 0u) << "a group was answered twice, or what was never asked";
    const auto decisions = ledger_.decisions(batch);
    return {decisions.begin(), decisions.end()};
  }

  algorithm::Decision apply(algorithm::Verb verb, const Charge& charge, Instant now) {
    return submit({{.charges = {charge}, .verb = verb}}, now).front();
  }
  algorithm::Decision decide(const Charge& charge, Instant now) { return apply(algorithm::Verb::decide, charge, now); }
  algorithm::Decision look(const Charge& charge, Instant now) { return apply(algorithm::Verb::look, charge, now); }

  // What a counter would still admit.
  std::uint32_t remaining(Charge charge, Instant now) {
    charge.cost = 0;
    return look(charge, now).remaining;
  }

  [[nodiscard]] Nanoseconds tick() const { return subject_->tick(); }
  // A wait as the store tells it, rounded up to its ticks.
  [[nodiscard]] Nanoseconds told(Nanoseconds wait) const { return (wait + tick() - Nanoseconds{1}) / tick() * tick(); }
  [[nodiscard]] bool names_windows() const { return subject_->names_windows(); }

 private:
  std::unique_ptr<Subject> subject_ = GetParam().create();
  Ledger ledger_{subject_->store()};
};

}  // namespace penstock::store::testing
