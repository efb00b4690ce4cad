#include "penstock/algorithm/testing/limits.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "penstock/algorithm/sliding_log.h"

namespace penstock::algorithm::testing {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<LimitOptions> buckets() {
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
          gcra_options(4'000'000'000, 1, 1'000),
          gcra_options(kMost, 1, 100),
          gcra_options(kMost, 1, kMost),
          gcra_options(1, kYearSeconds, kMost),
          gcra_options(kMost, kYearSeconds, 3),
          gcra_options(1, 10 * kYearSeconds, 2),
          gcra_options(1, 30 * kYearSeconds, 2),
          gcra_options(6'700'417, 86'400, 641)};
}

std::vector<LimitOptions> peaks() {
  return {peak_options(gcra_options(100, 60, 100), {.amount = 10, .window_seconds = 1, .burst = 10}),
          peak_options(gcra_options(1, 4, 4), {.amount = 1, .window_seconds = 1, .burst = 1}),
          peak_options(gcra_options(600, 60, 20), {.amount = 1'000, .window_seconds = 1, .burst = 50}),
          peak_options(gcra_options(7, 60, 5), {.amount = 997, .window_seconds = 3'600, .burst = 3}),
          peak_options(gcra_options(999'983, 1, 10), {.amount = kMost, .window_seconds = 1, .burst = 2}),
          peak_options(gcra_options(1, 10 * kYearSeconds, 5), {.amount = 1, .window_seconds = 86'400, .burst = 1})};
}

std::vector<LimitOptions> shapers() {
  return {shaper_options(1, 1, 1, seconds{3}),
          shaper_options(10, 1, 4, milliseconds{350}),
          shaper_options(600, 60, 20, seconds{1}),
          shaper_options(7, 60, 5, seconds{30}),
          shaper_options(999'983, 1, 10, milliseconds{1}),
          shaper_options(kMost, 1, 10, Nanoseconds{2}),
          shaper_options(1, 10 * kYearSeconds, 3, hours{24}),
          shaper_options(1, kYearSeconds, kMost, hours{24}),
          shaper_options(kMost, 1, kMost, hours{24}),
          peak_options(shaper_options(100, 60, 100, seconds{2}), {.amount = 10, .window_seconds = 1, .burst = 10})};
}

std::vector<LimitOptions> windows() {
  std::vector<LimitOptions> all;
  for (const std::uint32_t amount : {1u, 5u, 1000u, kMost}) {
    for (const std::int64_t length : {std::int64_t{1}, std::int64_t{60}, Limit::kMaxWindowSeconds}) {
      all.push_back(window_options(amount, length, false));
    }
  }
  return all;
}

std::vector<LimitOptions> sliding_windows() {
  std::vector<LimitOptions> all = windows();
  for (LimitOptions& options : all) options.algorithm = Algorithm::sliding_window;
  all.push_back(sliding_options(999'983, 1));
  all.push_back(sliding_options(4'000'000'000, 1));
  all.push_back(sliding_options(1, 10 * kYearSeconds));
  all.push_back(sliding_options(7, 60));
  return all;
}

std::vector<LimitOptions> sliding_logs() {
  return {log_options(1, 1), log_options(5, 60), log_options(1000, 60), log_options(kMaxLogAmount, 3'600),
          log_options(7, Limit::kMaxWindowSeconds)};
}

std::vector<LimitOptions> counting_refused(std::vector<LimitOptions> all) {
  for (LimitOptions& options : all) options.count_refused = true;
  return all;
}

std::vector<LimitOptions> spread(std::vector<LimitOptions> all) {
  for (LimitOptions& options : all) options.spread_windows = true;
  return all;
}

Ask in_own_time(const Limit& limit, Ask ask) {
  const Nanoseconds offset = limit.window_offset(kCounterHash);
  for (Instant* instant : {&ask.now, &ask.charged_at}) *instant += std::min(offset, Instant::max() - *instant);
  return ask;
}

bool has_whole_ticks(const LimitOptions& options) {
  const Limit limit = Limit::create(options).value();
  if (!limit.is_bucket()) return true;
  return limit.ticks().per_nanosecond > 0 && (!limit.has_peak() || limit.peak_ticks().per_nanosecond > 0);
}

std::uint64_t unit_nanoseconds(const Limit& limit) {
  return static_cast<std::uint64_t>(limit.window_seconds()) * 1'000'000'000 / std::max(limit.amount(), 1u) + 1;
}

namespace {

// A log with a free place, moved to a larger ring where there is none; only the largest ring may be full.
State with_room(const Limit& limit, const State& state, std::vector<LogEntry>& places) {
  const LogPlaces ring = log_ring(state) ? LogPlaces{places} : LogPlaces{};
  if (!limit.is_log() || log_size(state) < ring.size() || ring.size() == kMaxLogAmount) return state;
  std::vector<LogEntry> larger(std::bit_ceil(log_size(state) + 1));
  const State moved = move_log(state, ring, {.ring = 1, .places = larger});
  places = std::move(larger);
  return moved;
}

}  // namespace

Counter::Counter(const Limit& its_limit, State its_state) : limit{its_limit}, state{its_state} {}

Step Counter::step(const Ask& ask) const {
  std::vector<LogEntry> copy = places;
  const State ready = ask.verb == Verb::look ? state : with_room(limit, state, copy);
  return algorithm::apply(limit, ready, in_own_time(limit, ask), copy);
}

Instant Counter::fresh_at() const {
  std::vector<LogEntry> copy = places;
  const Instant fresh = algorithm::fresh_at(limit, state, copy);
  return fresh == kStateEpoch ? fresh : fresh - limit.window_offset(kCounterHash);
}

Decision Counter::ask(const Ask& ask) {
  const State ready = with_room(limit, state, places);
  const Step step = algorithm::apply(limit, ready, in_own_time(limit, ask), places);
  state = ask.verb == Verb::look ? ready : step.state;
  return step.decision;
}

std::uint32_t Counter::admitted(std::uint32_t asked, Instant now) {
  std::uint32_t passed = 0;
  for (std::uint32_t i = 0; i < asked; ++i) passed += decide(1, now).outcome == Outcome::allowed;
  return passed;
}

}  // namespace penstock::algorithm::testing

namespace penstock::algorithm {

void PrintTo(const LimitOptions& options, std::ostream* out) {
  *out << to_string(options.algorithm) << ' ' << options.amount << " in " << options.window_seconds << " s";
  if (options.burst > 0) *out << ", burst " << options.burst;
  if (options.peak) {
    *out << ", peak " << options.peak->amount << " in " << options.peak->window_seconds << " s burst "
         << options.peak->burst;
  }
  if (options.max_wait > Nanoseconds{0}) *out << ", max_wait " << options.max_wait.count() << " ns";
  if (options.count_refused) *out << ", counts refused";
  if (options.spread_windows) *out << ", spread";
}

void PrintTo(const Decision& decision, std::ostream* out) {
  constexpr const char* kOutcomes[] = {"allowed", "denied", "never", "pending", "unanswered"};
  *out << kOutcomes[static_cast<int>(decision.outcome)] << (decision.charged ? ", charged" : "") << ", remaining "
       << decision.remaining << ", retry " << decision.retry_after.count() << ", reset " << decision.reset_after.count()
       << ", before " << decision.count_before;
}

}  // namespace penstock::algorithm
