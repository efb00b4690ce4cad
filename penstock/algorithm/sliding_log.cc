// Sliding log: every instant at which cost was charged is remembered for as long as it counts, that is while
// at + W > now. A cost n is admitted where the sum of what counts and n are at most L; so at most L in any half-open
// interval of length W, and nobody is refused who keeps to that.

#include "penstock/algorithm/sliding_log.h"

#include <algorithm>
#include <limits>

#include "penstock/algorithm/steps.h"
#include "penstock/base/check.h"

namespace penstock::algorithm {
namespace {

constexpr int kFirstShift = log_bits::kSum + log_bits::kSize;
constexpr int kHasRingShift = kFirstShift + log_bits::kFirst;
constexpr std::uint32_t kTotalMask = (1u << 24) - 1;

std::int64_t nanoseconds(Instant instant) { return since_state_epoch(instant).count(); }

std::int64_t window_of(const Limit& limit) { return limit.window_seconds() * kNanosecondsPerSecond; }

// Since kStateEpoch. That and a window fit: the range of instants began 55 years earlier.
constexpr std::int64_t kMostNanoseconds = (Instant::max() - kStateEpoch).count();

Instant instant_at(std::int64_t nanoseconds) {
  return kStateEpoch + Nanoseconds{std::min(nanoseconds, kMostNanoseconds)};
}

// A state and its places, unpacked. Only `write` writes to the places.
struct Log {
  LogPlaces places;
  std::uint64_t ring = 0;
  std::uint32_t sum = 0;
  std::uint32_t size = 0;
  std::uint32_t first = 0;
  std::uint32_t before = 0;  // all cost before the first entry, modulo 2^24
  bool single = false;       // the only entry is in no ring, but here:
  std::int64_t single_at = 0;
  bool brought_back = false;  // from a clock that had run away

  [[nodiscard]] bool empty() const { return size == 0; }
  [[nodiscard]] bool full() const { return size == places.size(); }
  [[nodiscard]] LogEntry& entry(std::uint32_t i) const { return places[(first + i) & (places.size() - 1)]; }

  [[nodiscard]] std::int64_t at(std::uint32_t i) const {
    if (single) return single_at;
    const LogEntry& stored = entry(i);
    return static_cast<std::int64_t>(std::uint64_t{stored.at_high} << 32 | stored.at_low);
  }
  [[nodiscard]] std::int64_t newest() const { return at(size - 1); }

  // The cost of the entries up to and with `i`.
  [[nodiscard]] std::uint32_t cost_through(std::uint32_t i) const {
    return i + 1 == size ? sum : (entry(i + 1).before - before) & kTotalMask;
  }

  // The first entry up to and with which there is more cost than that; `size` if there is none.
  [[nodiscard]] std::uint32_t first_above(std::uint64_t cost) const {
    std::uint32_t low = 0, high = size;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (cost_through(middle) > cost) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // The first entry later than that; `size` if there is none. Mostly that is one of the first few.
  [[nodiscard]] std::uint32_t first_after(std::int64_t time) const {
    std::uint32_t low = 0, high = 1;
    while (high <= size && at(high - 1) <= time) {
      low = high;
      high *= 2;
    }
    high = std::min(high - 1, size);
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (at(middle) > time) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // Forgets the oldest entries, and so much cost.
  void forget(std::uint32_t entries, std::uint32_t cost) {
    first += entries;
    size -= entries;
    sum -= cost;
    before = (before + cost) & kTotalMask;
  }

  void write(std::uint32_t i, std::int64_t time, std::uint32_t cost_before) const {
    const auto bits = static_cast<std::uint64_t>(time);
    entry(i) = {.at_low = static_cast<std::uint32_t>(bits),
                .at_high = static_cast<std::uint32_t>(bits >> 32),
                .before = cost_before & kTotalMask};
  }

  // Charges at `now`, or at the newest entry where the clock is behind it.
  void append(std::int64_t now, std::uint32_t cost) {
    if (empty() || newest() < now) {
      if (places.empty()) {
        single = true;
        single_at = now;
        size = 1;
      } else {
        if (full()) {  // the oldest entry's cost is taken over by the next one
          ++first;
          --size;
        }
        write(size, now, before + sum);
        ++size;
      }
    }
    sum += cost;
  }
};

Log unpack(const State& state, LogPlaces places) {
  Log log;
  log.sum = static_cast<std::uint32_t>(log_bits::lowest(state.word, log_bits::kSum));
  if (const auto ring = log_ring(state)) {
    log.size = static_cast<std::uint32_t>(log_size(state));
    PENSTOCK_CHECK(log.size <= places.size());  // else they are not the places of this log
    log.places = places;
    log.ring = *ring;
    log.first = static_cast<std::uint32_t>(log_bits::lowest(state.word >> kFirstShift, log_bits::kFirst));
    log.before = static_cast<std::uint32_t>(state.second >> log_bits::kRing);
  } else {
    log.size = log.sum == 0 ? 0 : 1;
    log.single = true;
    log.single_at = static_cast<std::int64_t>(std::min<std::uint64_t>(state.second, kMostNanoseconds));
  }
  return log;
}

State pack(Log log) {
  const std::uint64_t word = log.sum | std::uint64_t{log.size} << log_bits::kSum;
  if (log.places.empty()) {
    return log.empty() ? State{} : State{.word = word, .second = static_cast<std::uint64_t>(log.single_at)};
  }
  const std::uint64_t first = log.first & (log.places.size() - 1);
  return {.word = word | first << kFirstShift | std::uint64_t{1} << kHasRingShift,
          .second = log.ring | std::uint64_t{log.before} << log_bits::kRing};
}

// What counts at `now`. Where the newest entry is further ahead than a window, the clock had run away: then all that
// counts is taken as charged now. Nobody is stalled for longer than two windows, and a small step back costs no more
// than itself.
Log current(const Limit& limit, const State& state, std::int64_t now, LogPlaces places) {
  Log log = unpack(state, places);
  const std::uint32_t gone = log.first_after(now - window_of(limit));
  if (gone > 0) log.forget(gone, log.cost_through(gone - 1));
  if (log.empty() || log.newest() <= now + window_of(limit)) return log;
  log.brought_back = true;
  log.single = true;
  log.single_at = now;
  log.first += log.size;
  log.size = 1;
  return log;
}

// Moves the entry of a log that was brought back into its ring, behind the last one that was there.
void settle(Log& log) {
  if (!log.brought_back || log.places.empty()) return;
  log.single = false;
  log.write(0, log.single_at, log.before);
}

// Keeps the first entry, and of the others those that end a stretch of less than `span` since the one kept before. A
// charge is never moved past the end of the stretch that it first fell into, so folding again and again adds up to no
// more than one span. At most 2 W / span + 3 entries are left.
void coarsen(Log& log, std::int64_t span) {
  std::uint32_t kept = 1;
  for (std::uint32_t i = 1; i < log.size;) {
    const std::uint32_t cost_before = log.entry(i).before;
    std::uint32_t end = i + 1;
    while (end < log.size && log.at(end) - log.at(kept - 1) < span) ++end;
    log.write(kept++, log.at(end - 1), cost_before);
    i = end;
  }
  log.size = kept;
}

Decision describe(const Limit& limit, const Log& log, Instant now) {
  Decision decision;
  decision.remaining = log.sum >= limit.amount() ? 0 : limit.amount() - log.sum;
  if (!log.empty()) decision.reset_after = wait_until(instant_at(log.newest() + window_of(limit)), now);
  return decision;
}

struct Asked {
  const Limit& limit;
  const State& state;
  const Ask& ask;
};

// Nothing is charged; a log that had run away is brought back, but in a full ring, which has no place for that.
Step unchanged(const Asked& asked, Log log) {
  Step step = {.decision = describe(asked.limit, log, asked.ask.now), .state = asked.state};
  const bool full = !log.places.empty() && log_size(asked.state) == log.places.size();
  if (!log.brought_back || full) return step;
  settle(log);
  step.state = pack(log);
  return step;
}

std::uint32_t room_of(const Limit& limit, const Log& log) {
  return log.sum >= limit.amount() ? 0 : limit.amount() - log.sum;
}

Step changed(const Asked& asked, const Log& log) {
  Step step = {.decision = describe(asked.limit, log, asked.ask.now), .state = pack(log)};
  step.decision.charged = true;
  return step;
}

// Charges as much as there is room for, be it nothing.
Step charge(const Asked& asked, Log log) {
  const auto cost = static_cast<std::uint32_t>(std::min<std::uint64_t>(asked.ask.cost, room_of(asked.limit, log)));
  if (cost == 0) return unchanged(asked, log);
  settle(log);
  log.append(nanoseconds(asked.ask.now), cost);
  return changed(asked, log);
}

// Charges a refused cost: what there is no room for takes the place of the oldest, so that who keeps asking keeps being
// refused. It is appended first, since nothing but the place behind the last entry may be written.
Step charge_refused(const Asked& asked, Log log) {
  const std::uint32_t room = room_of(asked.limit, log);
  const bool all_is_new = room == 0 && log.size == 1 && log.newest() >= nanoseconds(asked.ask.now);
  if (all_is_new) return unchanged(asked, log);
  const auto cost = static_cast<std::uint32_t>(std::min<std::uint64_t>(asked.ask.cost, asked.limit.amount()));
  settle(log);
  log.append(nanoseconds(asked.ask.now), cost);
  const std::uint32_t replaced = cost - std::min(cost, room);
  log.forget(log.first_above(replaced), replaced);
  return changed(asked, log);
}

// The wait until enough of the oldest entries no longer count.
Nanoseconds wait_for(const Asked& asked, const Log& log, std::uint64_t cost) {
  if (log.sum + cost <= asked.limit.amount()) return Nanoseconds{0};
  const std::uint32_t last = log.first_above(log.sum + cost - asked.limit.amount() - 1);
  return wait_until(instant_at(log.at(last) + window_of(asked.limit)), asked.ask.now);
}

// A look (cost 0) asks whether anything remains, which is what a cost of 1 asks.
Step decide(const Asked& asked, const Log& log, LogPlaces places) {
  const Ask& ask = asked.ask;
  const std::uint64_t cost = std::max<std::uint64_t>(ask.cost, 1);
  const bool never = cost > asked.limit.amount();
  const bool writes = ask.verb == Verb::decide && ask.cost > 0;
  if (!never && log.sum + cost <= asked.limit.amount()) return writes ? charge(asked, log) : unchanged(asked, log);
  Step step = writes && asked.limit.counts_refused() ? charge_refused(asked, log) : unchanged(asked, log);
  step.decision.outcome = never ? Outcome::never : Outcome::denied;
  step.decision.retry_after = Decision::kNever;
  if (never) return step;
  const Log& after = step.decision.charged ? current(asked.limit, step.state, nanoseconds(ask.now), places) : log;
  step.decision.retry_after = wait_for(asked, after, cost);
  return step;
}

// Takes from the oldest entries, whichever the cost was charged with: what is left counts for longer, never shorter.
Step refund(const Asked& asked, Log log) {
  const std::int64_t charged = nanoseconds(std::min(asked.ask.charged_at, asked.ask.now));
  const bool over = charged + window_of(asked.limit) <= nanoseconds(asked.ask.now);
  if (over || asked.ask.cost == 0 || log.empty()) return unchanged(asked, log);
  settle(log);
  const auto cost = static_cast<std::uint32_t>(std::min<std::uint64_t>(asked.ask.cost, log.sum));
  log.forget(log.first_above(cost), cost);
  Step step = changed(asked, log);
  if (log.empty()) step.state = {};
  return step;
}

}  // namespace

std::size_t log_places_wanted(const Limit& limit, const State& state, Instant now, LogPlaces places) noexcept {
  const bool has_ring = log_ring(state).has_value();
  if (log_size(state) < (has_ring ? places.size() : 1)) return 0;
  const Log log = current(limit, state, nanoseconds(now), places);
  const bool merged = !log.empty() && log.newest() >= nanoseconds(now);
  if (has_ring && log.size < places.size()) return log.size + 1u;
  const bool takes_none = log.sum >= limit.amount() && !limit.counts_refused();
  return log.empty() || merged || takes_none ? 0 : log.size + 1u;
}

State make_room(const Limit& limit, const State& state, Instant now, LogPlaces places) noexcept {
  Log log = current(limit, state, nanoseconds(now), places);
  settle(log);
  const auto count = static_cast<std::int64_t>(places.size());
  if (log.full()) coarsen(log, window_of(limit) / count * 4);
  if (log.full()) {
    ++log.first;
    --log.size;
  }
  return pack(log);
}

State move_log(const State& state, LogPlaces from, const LogRingPlaces& to) noexcept {
  PENSTOCK_DCHECK(to.ring <= kMaxLogRing);
  const Log log = unpack(state, from);
  Log moved = log;
  moved.places = to.places;
  moved.ring = to.ring;
  moved.first = 0;
  moved.single = to.places.empty();
  if (log.empty()) return pack(moved);
  if (moved.single) {
    moved.single_at = log.newest();
    moved.size = 1;
    return pack(moved);
  }
  moved.size = std::min(log.size, static_cast<std::uint32_t>(to.places.size()));
  for (std::uint32_t i = log.size - moved.size, j = 0; j < moved.size; ++i, ++j) {
    moved.write(j, log.at(i), log.single ? log.before : log.entry(i).before);
  }
  return pack(moved);
}

namespace sliding_log {

Step apply(const Limit& limit, State state, const Ask& ask, LogPlaces places) noexcept {
  const Asked asked = {.limit = limit, .state = state, .ask = ask};
  const Log log = current(limit, state, nanoseconds(ask.now), places);
  switch (ask.verb) {
    case Verb::decide:
    case Verb::look: return decide(asked, log, places);
    case Verb::refund: return refund(asked, log);
    case Verb::debit: return charge(asked, log);
  }
  __builtin_unreachable();
}

Instant fresh_at(const Limit& limit, State state, LogPlaces places) noexcept {
  const Log log = unpack(state, places);
  return log.empty() ? kStateEpoch : instant_at(log.newest() + window_of(limit));
}

}  // namespace sliding_log
}  // namespace penstock::algorithm
