#pragma once

// GCRA, virtual scheduling (ITU-T I.371), with cost n and burst b. The theoretical arrival time TAT is when the bucket
// would be full again; T is the ticks of one cost unit:
//
//     new = max(now, TAT) + n*T;  allowed <=> new - now <= b*T
//
// The same as a token bucket of b tokens, and as a leaky bucket that b units fill. A shaper is the same, but for who
// waits: the cost is charged at once and departs at new - b*T. A peak is a second TAT in ticks of its own: a cost
// departs when both have room, and is charged to both. (As both take every cost, the slower rate's TAT is never behind
// the other's departures, so who waits for one does not gain on the other.)
//
// `now` is always the last whole tick. Where a nanosecond is a whole number of ticks that is exact; elsewhere a cost
// may pass up to one tick early; that never adds up. Rounding up where `now` becomes the base would avoid that, but
// then the last unit of a burst taken one by one at one instant would be refused while the burst at once passes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "penstock/algorithm/steps.h"

namespace penstock::algorithm::gcra {

// Ticks of the last instant that is told apart, thirty years after kStateEpoch at the earliest: ticks fit thirty years
// of 365.25 days below 2^62. A TAT is at most a full burst (below 2^62), the longest wait (below 2^49) and a second's
// slack (below 2^33) later, which fits.
constexpr std::int64_t kMaxTicks = (std::int64_t{1} << 62) - (std::int64_t{1} << 50);

// The last whole tick of a span of time, at most kMaxTicks.
inline std::int64_t whole_ticks(const Ticks& ticks, Nanoseconds span) {
  const std::int64_t elapsed = span.count();
  std::int64_t whole = 0;
  if (ticks.per_nanosecond > 0) [[likely]] {
    const bool beyond = __builtin_mul_overflow(elapsed, ticks.per_nanosecond, &whole);
    return beyond ? kMaxTicks : std::min(whole, kMaxTicks);
  }
  if (__builtin_mul_overflow(elapsed / kNanosecondsPerSecond, ticks.per_second, &whole) || whole >= kMaxTicks) {
    return kMaxTicks;
  }
  // Below 4.9e9 ticks a second, so this product fits 64 bits.
  const auto part =
      static_cast<std::uint64_t>(elapsed % kNanosecondsPerSecond) * static_cast<std::uint64_t>(ticks.per_second);
  return std::min(whole + static_cast<std::int64_t>(part / kNanosecondsPerSecond), kMaxTicks);
}

inline std::int64_t tick_at(const Ticks& ticks, Instant now) { return whole_ticks(ticks, since_state_epoch(now)); }

inline std::int64_t divided_rounding_up(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor == 0 ? 0 : 1);
}

// The first instant whose tick is `tick` or later.
inline Instant to_instant(const Ticks& ticks, std::int64_t tick) {
  constexpr std::int64_t kMost = (Instant::max() - kStateEpoch).count();
  if (ticks.per_nanosecond > 0) [[likely]] {
    return kStateEpoch + Nanoseconds{std::min(divided_rounding_up(tick, ticks.per_nanosecond), kMost)};
  }
  const std::int64_t seconds = tick / ticks.per_second;
  if (seconds >= kMost / kNanosecondsPerSecond) return Instant::max();
  const std::int64_t rest = divided_rounding_up(tick % ticks.per_second * kNanosecondsPerSecond, ticks.per_second);
  return kStateEpoch + Nanoseconds{seconds * kNanosecondsPerSecond + rest};
}

// A state from elsewhere may hold anything; what no limit can have written is held at the end of the range.
inline std::int64_t stored_arrival(std::uint64_t word) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(word, kMost));
}

// Apart, since it seldom happens.
[[nodiscard, gnu::noinline]] inline std::int64_t far_arrival(const Ticks& ticks, std::int64_t stored, std::int64_t now,
                                                             Nanoseconds max_wait) {
  const std::int64_t wait = whole_ticks(ticks, max_wait);
  return stored - ticks.per_burst - now - wait > ticks.per_second ? now + ticks.per_burst + wait : stored;
}

// The stored TAT, but brought back to that of a bucket that is empty, with the longest wait taken, where it is further
// ahead by more than clocks of loops can differ: then the clock had run away. Bringing it back for less would forget
// debt each time two loops take turns.
inline std::int64_t arrival(const Ticks& ticks, std::int64_t stored, std::int64_t now, Nanoseconds max_wait) {
  const std::int64_t beyond_empty = stored - ticks.per_burst - now;
  if (beyond_empty <= ticks.per_second) [[likely]]
    return stored;
  return far_arrival(ticks, stored, now, max_wait);
}

// One rate of a bucket, at an instant.
struct Meter {
  const Ticks* ticks;
  std::uint64_t word;
  std::int64_t tat;
  std::int64_t now;

  [[nodiscard]] std::int64_t base() const { return std::max(tat, now); }

  // At most a full burst: more has no further effect.
  [[nodiscard]] std::int64_t price(std::uint64_t cost) const {
    std::int64_t product = 0;
    const bool beyond = __builtin_mul_overflow(cost, ticks->per_cost, &product);
    return beyond ? ticks->per_burst : std::min(product, ticks->per_burst);
  }

  // The same for a cost that fits a full bucket.
  [[nodiscard]] std::int64_t exact_price(std::uint64_t cost) const {
    return static_cast<std::int64_t>(cost) * ticks->per_cost;
  }

  [[nodiscard]] std::int64_t departure(std::uint64_t cost) const {
    return base() - ticks->per_burst + exact_price(cost);
  }

  // What is stored: where nothing is charged the word as it was, unless it was brought back.
  [[nodiscard]] std::uint64_t word_after(bool charged) const {
    return charged || tat < stored_arrival(word) ? static_cast<std::uint64_t>(tat) : word;
  }
};

template <std::size_t kMeters>
struct Bucket {
  const Limit& limit;
  Instant now;
  std::array<Meter, kMeters> meters;
};

inline Meter meter_at(const Limit& limit, const Ticks& ticks, std::uint64_t word, Instant now) {
  const std::int64_t tick = tick_at(ticks, now);
  return {
      .ticks = &ticks, .word = word, .tat = arrival(ticks, stored_arrival(word), tick, limit.max_wait()), .now = tick};
}

inline Nanoseconds wait_for(const Meter& meter, std::int64_t tick, Instant now) {
  return tick <= meter.now ? Nanoseconds{0} : wait_until(to_instant(*meter.ticks, tick), now);
}

template <std::size_t kMeters>
Nanoseconds least_wait(const Bucket<kMeters>& bucket, std::uint64_t cost) {
  Nanoseconds wait{0};
  for (const Meter& meter : bucket.meters) wait = std::max(wait, wait_for(meter, meter.departure(cost), bucket.now));
  return wait;
}

// What is said of a bucket whatever the outcome.
struct Standing {
  std::int64_t remaining;
  Nanoseconds reset_after;
};

template <std::size_t kMeters>
Standing standing_of(const Bucket<kMeters>& bucket) {
  Standing standing = {.remaining = bucket.limit.capacity(), .reset_after = Nanoseconds{0}};
  for (const Meter& meter : bucket.meters) {
    if (meter.tat <= meter.now) continue;
    const std::int64_t left = meter.ticks->per_burst - (meter.tat - meter.now);
    const std::int64_t units = left <= 0 ? 0 : left / meter.ticks->per_cost;
    standing.remaining = kMeters == 1 ? units : std::min(standing.remaining, units);
    standing.reset_after = std::max(standing.reset_after, wait_for(meter, meter.tat, bucket.now));
  }
  return standing;
}

struct Answer {
  Outcome outcome = Outcome::allowed;
  bool charged = false;
  Nanoseconds retry_after{0};
};

// In one piece, so that it is put together where it is wanted, and not copied there.
template <std::size_t kMeters>
Step step_of(const Bucket<kMeters>& bucket, const Answer& answer) {
  const Standing standing = standing_of(bucket);
  std::uint64_t second = 0;
  if constexpr (kMeters == 2) second = bucket.meters[1].word_after(answer.charged);
  return {.decision = {.outcome = answer.outcome,
                       .charged = answer.charged,
                       .remaining = static_cast<std::uint32_t>(standing.remaining),
                       .retry_after = answer.retry_after,
                       .reset_after = standing.reset_after},
          .state = {.word = bucket.meters[0].word_after(answer.charged), .second = second}};
}

// The following charge or refund in place and say whether anything changed.

template <std::size_t kMeters>
bool refund(Bucket<kMeters>& bucket, std::uint64_t cost) {
  bool changed = false;
  for (Meter& meter : bucket.meters) {
    if (cost == 0 || meter.tat <= meter.now) continue;
    meter.tat = std::max(meter.now, meter.tat - meter.price(cost));
    changed = true;
  }
  return changed;
}

template <std::size_t kMeters>
bool debit(Bucket<kMeters>& bucket, std::uint64_t cost) {
  bool changed = false;
  for (Meter& meter : bucket.meters) {
    const std::int64_t room = meter.now + meter.ticks->per_burst - meter.base();
    if (cost == 0 || room <= 0) continue;
    meter.tat = meter.base() + std::min(meter.price(cost), room);
    changed = true;
  }
  return changed;
}

template <std::size_t kMeters>
bool admit(Bucket<kMeters>& bucket, std::uint64_t cost) {
  for (Meter& meter : bucket.meters) meter.tat = meter.base() + meter.exact_price(cost);
  return true;
}

template <std::size_t kMeters>
Step refuse(Bucket<kMeters>& bucket, const Ask& ask) {
  const bool counts = bucket.limit.counts_refused() && ask.verb == Verb::decide;
  const bool charged = counts && debit(bucket, ask.cost);
  if (ask.cost > bucket.limit.capacity()) {
    return step_of(bucket, {.outcome = Outcome::never, .charged = charged, .retry_after = Decision::kNever});
  }
  const Nanoseconds wait = least_wait(bucket, std::max<std::uint64_t>(ask.cost, 1));
  return step_of(bucket, {.outcome = Outcome::denied, .charged = charged, .retry_after = wait});
}

template <std::size_t kMeters>
Step allow(Bucket<kMeters>& bucket, const Ask& ask, Nanoseconds wait) {
  const bool only_looks = ask.verb == Verb::look || ask.cost == 0;
  const bool charged = !only_looks && admit(bucket, ask.cost);
  return step_of(bucket, {.charged = charged, .retry_after = wait});
}

// Looks at the ticks as well, since a wait beyond the range of instants is told as one to its end.
template <std::size_t kMeters>
bool may_wait(const Bucket<kMeters>& bucket, std::uint64_t cost, Nanoseconds wait) {
  const Nanoseconds most = bucket.limit.max_wait();
  return wait <= most && std::ranges::all_of(bucket.meters, [&](const Meter& meter) {
           return meter.departure(cost) - meter.now <= whole_ticks(*meter.ticks, most) + 1;
         });
}

// A look (cost 0) asks whether anything remains, which is what a cost of 1 asks.
template <std::size_t kMeters>
Step decide(Bucket<kMeters>& bucket, const Ask& ask) {
  const std::uint64_t asked = std::max<std::uint64_t>(ask.cost, 1);
  if (asked > bucket.limit.capacity()) [[unlikely]]
    return refuse(bucket, ask);
  const Nanoseconds wait = least_wait(bucket, asked);
  const bool passes = wait == Nanoseconds{0} || (ask.accepts_wait && may_wait(bucket, asked, wait));
  if (passes) [[likely]]
    return allow(bucket, ask, wait);
  return refuse(bucket, ask);
}

template <std::size_t kMeters>
Step apply_to(Bucket<kMeters>& bucket, const Ask& ask) {
  switch (ask.verb) {
    case Verb::decide:
    case Verb::look: return decide(bucket, ask);
    case Verb::refund: return step_of(bucket, {.charged = refund(bucket, ask.cost)});
    case Verb::debit: return step_of(bucket, {.charged = debit(bucket, ask.cost)});
  }
  __builtin_unreachable();
}

inline std::uint8_t used_share(const Meter& meter) {
  const std::int64_t used = meter.tat - meter.now;
  if (used <= 0) return 0;
  if (meter.ticks->per_burst - used < meter.ticks->per_cost) return 255;
  // Burst ticks may come near 2^62, so dividing first keeps the product in range at a loss below 1/255.
  const std::int64_t step = meter.ticks->per_burst / 255 + 1;
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(used / step, 1, 254));
}

inline std::uint64_t rebuilt(const Ticks& ticks, Instant fresh_at, Instant now) {
  const std::int64_t tick = tick_at(ticks, now);
  std::int64_t fresh = tick_at(ticks, fresh_at);
  if (to_instant(ticks, fresh) < fresh_at) ++fresh;
  return fresh <= tick ? 0 : static_cast<std::uint64_t>(std::min(fresh, tick + ticks.per_burst));
}

// Requires: no peak.
inline Step apply_one_rate(const Limit& limit, State state, const Ask& ask) noexcept {
  Bucket<1> bucket{limit, ask.now, {meter_at(limit, limit.ticks(), state.word, ask.now)}};
  return apply_to(bucket, ask);
}

inline Step apply(const Limit& limit, State state, const Ask& ask) noexcept {
  if (!limit.has_peak()) return apply_one_rate(limit, state, ask);
  Bucket<2> bucket{limit,
                   ask.now,
                   {meter_at(limit, limit.ticks(), state.word, ask.now),
                    meter_at(limit, limit.peak_ticks(), state.second, ask.now)}};
  return apply_to(bucket, ask);
}

inline Instant fresh_at(const Limit& limit, State state) noexcept {
  const Instant fresh = to_instant(limit.ticks(), stored_arrival(state.word));
  return limit.has_peak() ? std::max(fresh, to_instant(limit.peak_ticks(), stored_arrival(state.second))) : fresh;
}

inline std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept {
  const std::uint8_t share = used_share(meter_at(limit, limit.ticks(), state.word, now));
  if (!limit.has_peak()) return share;
  return std::max(share, used_share(meter_at(limit, limit.peak_ticks(), state.second, now)));
}

inline State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept {
  return {.word = rebuilt(limit.ticks(), fresh_at, now),
          .second = limit.has_peak() ? rebuilt(limit.peak_ticks(), fresh_at, now) : 0};
}

}  // namespace penstock::algorithm::gcra
