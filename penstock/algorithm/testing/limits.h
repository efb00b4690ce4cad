#pragma once

#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include "penstock/algorithm/algorithm.h"

// Limits, instants and streams that the tests of this room share.

namespace penstock::algorithm::testing {

inline constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

// 2026-03-04T05:06:07.123456789Z: no whole second, minute or tick.
inline constexpr Instant kOddInstant = instant_from_unix_seconds(1'772'600'767) + Nanoseconds{123'456'789};

[[nodiscard]] inline LimitOptions gcra_options(std::uint32_t amount, std::int64_t seconds, std::uint32_t burst) {
  return {.algorithm = Algorithm::gcra, .amount = amount, .window_seconds = seconds, .burst = burst};
}

[[nodiscard]] inline LimitOptions window_options(std::uint32_t amount, std::int64_t seconds, bool count_refused) {
  return {.amount = amount, .window_seconds = seconds, .count_refused = count_refused};
}

[[nodiscard]] inline Limit gcra(std::uint32_t amount, std::int64_t seconds, std::uint32_t burst) {
  return Limit::create(gcra_options(amount, seconds, burst)).value();
}

[[nodiscard]] inline Limit window(std::uint32_t amount, std::int64_t seconds, bool count_refused = false) {
  return Limit::create(window_options(amount, seconds, count_refused)).value();
}

// Buckets from the everyday to the edge of what Limit takes. The first ones have ticks of whole nanoseconds.
[[nodiscard]] inline std::vector<LimitOptions> buckets_of_all_sizes() {
  constexpr std::int64_t kYear = 31'536'000;
  return {gcra_options(1, 1, 5),
          gcra_options(10, 1, 10),
          gcra_options(3, 2, 3),
          gcra_options(600, 60, 20),
          gcra_options(100, 3'600, 1),
          gcra_options(1'000'000, 1, 1'000),
          gcra_options(1, 3'600, 1),
          gcra_options(7, 1, 7),
          gcra_options(7, 60, 5),
          gcra_options(997, 1, 100),
          gcra_options(999'983, 1, 10),
          gcra_options(kMost, 1, 100),
          gcra_options(kMost, 1, kMost),
          gcra_options(1, kYear, kMost),
          gcra_options(kMost, kYear, 3),
          gcra_options(1, 30 * kYear, 2),
          gcra_options(6'700'417, 86'400, 641)};
}

inline void describe(const LimitOptions& options, std::ostream& out) {
  out << to_string(options.algorithm) << ' ' << options.amount << " in " << options.window_seconds << " s, burst "
      << options.burst << (options.count_refused ? ", counts refused" : "");
}

// One counter under one limit.
struct Counter {
  Limit limit;
  State state = {};

  Decision decide(std::uint64_t cost, Instant now) { return take(algorithm::decide(limit, state, now, cost)); }
  Decision look(std::uint64_t cost, Instant now) const { return algorithm::look(limit, state, now, cost).decision; }
  Decision apply(Verb verb, std::uint64_t cost, Instant now, Instant charged_at) {
    return take(algorithm::apply(limit, verb, state, now, cost, charged_at));
  }

  // How many of `asked` single units pass at one instant.
  std::uint32_t admitted(std::uint32_t asked, Instant now) {
    std::uint32_t passed = 0;
    for (std::uint32_t i = 0; i < asked; ++i) passed += decide(1, now).outcome == Outcome::allowed;
    return passed;
  }

 private:
  Decision take(const Step& step) {
    state = step.state;
    return step.decision;
  }
};

}  // namespace penstock::algorithm::testing

namespace penstock::algorithm {

inline void PrintTo(const LimitOptions& options, std::ostream* out) { testing::describe(options, *out); }

}  // namespace penstock::algorithm
