#pragma once

#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include "penstock/algorithm/algorithm.h"

// Limits and instants that the tests of this room share.

namespace penstock::algorithm::testing {

inline constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int64_t kYearSeconds = 31'536'000;

// 2026-03-04T05:06:07.123456789Z: no whole second, minute or tick.
inline constexpr Instant kOddInstant = instant_from_unix_seconds(1'772'600'767) + Nanoseconds{123'456'789};

// A whole minute, hour and multiple of 180 seconds: where published tables start to count.
inline constexpr Instant kZero = instant_from_unix_seconds(1'772'600'400);

[[nodiscard]] constexpr LimitOptions gcra_options(std::uint32_t amount, std::int64_t seconds, std::uint32_t burst) {
  return {.algorithm = Algorithm::gcra, .amount = amount, .window_seconds = seconds, .burst = burst};
}
[[nodiscard]] constexpr LimitOptions peak_options(LimitOptions sustained, const PeakOptions& peak) {
  sustained.peak = peak;
  return sustained;
}
[[nodiscard]] constexpr LimitOptions shaper_options(std::uint32_t amount, std::int64_t seconds, std::uint32_t burst,
                                                    Nanoseconds max_wait) {
  return {.algorithm = Algorithm::leaky_bucket,
          .amount = amount,
          .window_seconds = seconds,
          .burst = burst,
          .max_wait = max_wait};
}
[[nodiscard]] constexpr LimitOptions window_options(std::uint32_t amount, std::int64_t seconds, bool count_refused) {
  return {.amount = amount, .window_seconds = seconds, .count_refused = count_refused};
}
[[nodiscard]] constexpr LimitOptions sliding_options(std::uint32_t amount, std::int64_t seconds) {
  return {.algorithm = Algorithm::sliding_window, .amount = amount, .window_seconds = seconds};
}
[[nodiscard]] constexpr LimitOptions log_options(std::uint32_t amount, std::int64_t seconds) {
  return {.algorithm = Algorithm::sliding_log, .amount = amount, .window_seconds = seconds};
}

[[nodiscard]] inline Limit gcra(std::uint32_t amount, std::int64_t seconds, std::uint32_t burst) {
  return Limit::create(gcra_options(amount, seconds, burst)).value();
}
[[nodiscard]] inline Limit gcra(const LimitOptions& sustained, const PeakOptions& peak) {
  return Limit::create(peak_options(sustained, peak)).value();
}
[[nodiscard]] inline Limit shaper(std::uint32_t amount, std::int64_t seconds, std::uint32_t burst,
                                  Nanoseconds max_wait) {
  return Limit::create(shaper_options(amount, seconds, burst, max_wait)).value();
}
[[nodiscard]] inline Limit window(std::uint32_t amount, std::int64_t seconds, bool count_refused = false) {
  return Limit::create(window_options(amount, seconds, count_refused)).value();
}
[[nodiscard]] inline Limit sliding_window(std::uint32_t amount, std::int64_t seconds) {
  return Limit::create(sliding_options(amount, seconds)).value();
}
[[nodiscard]] inline Limit sliding_log(std::uint32_t amount, std::int64_t seconds) {
  return Limit::create(log_options(amount, seconds)).value();
}

// From the everyday to the edge of what Limit takes.
[[nodiscard]] std::vector<LimitOptions> buckets();  // without peaks and waits
[[nodiscard]] std::vector<LimitOptions> peaks();
[[nodiscard]] std::vector<LimitOptions> shapers();
[[nodiscard]] std::vector<LimitOptions> windows();
[[nodiscard]] std::vector<LimitOptions> sliding_windows();
[[nodiscard]] std::vector<LimitOptions> sliding_logs();

// The same, but that refused cost counts.
[[nodiscard]] std::vector<LimitOptions> counting_refused(std::vector<LimitOptions> all);

// The same, but that windows are spread.
[[nodiscard]] std::vector<LimitOptions> spread(std::vector<LimitOptions> all);

// The question in the time of the counter of kCounterHash.
[[nodiscard]] Ask in_own_time(const Limit& limit, Ask ask);

// Whether a nanosecond is a whole number of ticks, so that every number is the exact one; always but for buckets.
[[nodiscard]] bool has_whole_ticks(const LimitOptions& options);

// About the time in which one unit comes back, rounded up.
[[nodiscard]] std::uint64_t unit_nanoseconds(const Limit& limit);

// The hash that stands for the identity of every counter here: spread windows begin 0.618 of a window early.
inline constexpr Hash128 kCounterHash{.low = 1, .high = 0x9e37'79b9'7f4a'7c15};

// One counter under one limit; a sliding log keeps its entries in a ring that is as large as they can be many. Where
// windows are spread, the state is in the counter's own time, as a store keeps it.
struct Counter {
  explicit Counter(const Limit& limit, State state = {});

  Limit limit;
  State state;
  std::vector<LogEntry> places;

  // What would be said and kept; nothing changes.
  [[nodiscard]] Step step(const Ask& ask) const;

  [[nodiscard]] Instant fresh_at() const;

  Decision ask(const Ask& ask);  // as a store does: what a look says is not kept
  Decision decide(std::uint64_t cost, Instant now) { return ask({.cost = cost, .now = now}); }
  [[nodiscard]] Decision look(std::uint64_t cost, Instant now) const {
    return step({.verb = Verb::look, .cost = cost, .now = now}).decision;
  }
  Decision refund(std::uint64_t cost, Instant now, Instant charged_at) {
    return ask({.verb = Verb::refund, .cost = cost, .now = now, .charged_at = charged_at});
  }
  Decision debit(std::uint64_t cost, Instant now) { return ask({.verb = Verb::debit, .cost = cost, .now = now}); }

  // How many of `asked` single units pass at one instant.
  std::uint32_t admitted(std::uint32_t asked, Instant now);
};

}  // namespace penstock::algorithm::testing

namespace penstock::algorithm {

void PrintTo(const LimitOptions& options, std::ostream* out);
void PrintTo(const Decision& decision, std::ostream* out);

}  // namespace penstock::algorithm
