// Prints what each algorithm admits of three kinds of traffic, a line for each request:
//
//   <limit> <traffic> <milliseconds when it was sent> <milliseconds when it was admitted, or "refused">
//
// Every limit is one of 10 in 10 seconds, and time begins at the start of a window. Only the algorithms themselves run:
// nothing depends on the machine. bench/plots draws docs/plots from it.

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "penstock/algorithm/algorithm.h"
#include "penstock/algorithm/sliding_log.h"

namespace {

using namespace penstock::algorithm;
using penstock::Instant;
using std::chrono::milliseconds;

constexpr std::int64_t kEndMilliseconds = 40'000;
constexpr Instant kStart = penstock::instant_from_unix_seconds(1'800'000'000);

struct Subject {
  std::string_view name;
  LimitOptions options;
  bool waits = false;
};

const std::array kSubjects{
    Subject{"fixed_window", {.algorithm = Algorithm::fixed_window, .amount = 10, .window_seconds = 10}},
    Subject{"sliding_window", {.algorithm = Algorithm::sliding_window, .amount = 10, .window_seconds = 10}},
    Subject{"sliding_log", {.algorithm = Algorithm::sliding_log, .amount = 10, .window_seconds = 10}},
    Subject{"bucket", {.algorithm = Algorithm::gcra, .amount = 10, .window_seconds = 10, .burst = 10}},
    Subject{"bucket_burst_3", {.algorithm = Algorithm::gcra, .amount = 10, .window_seconds = 10, .burst = 3}},
    Subject{"peak",
            {.algorithm = Algorithm::gcra,
             .amount = 10,
             .window_seconds = 10,
             .burst = 10,
             .peak = PeakOptions{.amount = 2, .window_seconds = 1, .burst = 2}}},
    Subject{"max_wait",
            {.algorithm = Algorithm::leaky_bucket,
             .amount = 10,
             .window_seconds = 10,
             .burst = 1,
             .max_wait = std::chrono::seconds{5}},
            true},
};

struct Traffic {
  std::string_view name;
  std::vector<std::int64_t> sent;  // milliseconds
};

// Thirty at once, and again twenty seconds later.
Traffic burst() {
  Traffic traffic{"burst", std::vector<std::int64_t>(30, 5'000)};
  traffic.sent.insert(traffic.sent.end(), 30, 25'000);
  return traffic;
}

// Three times the rate, evenly.
Traffic overload() {
  Traffic traffic{"overload", {}};
  for (std::int64_t i = 0; i * 1000 / 3 < kEndMilliseconds; ++i) traffic.sent.push_back(i * 1000 / 3);
  return traffic;
}

// As much as passes at the end of a window, and from then on whatever passes.
Traffic attack() {
  Traffic traffic{"attack", {}};
  for (std::int64_t at = 9'900; at < kEndMilliseconds; at += 100) traffic.sent.insert(traffic.sent.end(), 12, at);
  return traffic;
}

void run(const Subject& subject, const Traffic& traffic) {
  const Limit limit = *Limit::create(subject.options);
  std::vector<LogEntry> places(64);
  State state;
  if (limit.is_log()) state = move_log({}, {}, {.ring = 1, .places = places});
  for (const std::int64_t sent : traffic.sent) {
    const Instant now = kStart + milliseconds{sent};
    if (limit.is_log() && log_places_wanted(limit, state, now, places) > 0) {
      state = make_room(limit, state, now, places);
    }
    const Step step = apply(limit, state, {.accepts_wait = subject.waits, .cost = 1, .now = now}, places);
    state = step.state;
    const std::int64_t wait = std::chrono::ceil<milliseconds>(step.decision.retry_after).count();
    fmt::print("{} {} {} {}\n", subject.name, traffic.name, sent,
               step.decision.refused() ? "refused" : fmt::format("{}", sent + wait));
  }
}

}  // namespace

int main() {
  for (const Subject& subject : kSubjects) {
    for (const Traffic& traffic : {burst(), overload(), attack()}) run(subject, traffic);
  }
}
