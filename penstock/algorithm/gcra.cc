// GCRA, virtual scheduling (ITU-T I.371), with cost n and burst b. The theoretical arrival time TAT is when the bucket
// would be full again; T is the ticks of one cost unit:
//
//     new = max(now, TAT) + n*T;  allowed <=> new - now <= b*T
//
// The same as a token bucket of b tokens. `now` is always the last whole tick. Where a nanosecond is a whole number of
// ticks that is exact; elsewhere a cost may pass up to one tick early; that never adds up. Rounding
// up where `now` becomes the base would avoid that, but then the last unit of a burst taken one by one at one instant
// would be refused while the burst at once passes.

#include <algorithm>
#include <limits>

#include "penstock/algorithm/steps.h"

namespace penstock::algorithm::gcra {
namespace {

// Ticks of the last instant that is told apart. A TAT is at most a full burst (below 2^62) and a second's slack (below
// 2^33) later, which fits.
constexpr std::int64_t kMaxTicks = (std::int64_t{1} << 62) - (std::int64_t{1} << 33);

// Instants from which on ticks would not fit are held at kMaxTicks: thirty years after kStateEpoch at the earliest.
std::int64_t to_ticks(const Limit& limit, Instant now) {
  const std::int64_t elapsed = since_state_epoch(now).count();
  std::int64_t whole = 0;
  if (limit.ticks_per_nanosecond() > 0) {
    const bool beyond = __builtin_mul_overflow(elapsed, limit.ticks_per_nanosecond(), &whole);
    return beyond ? kMaxTicks : std::min(whole, kMaxTicks);
  }
  const std::int64_t per_second = limit.ticks_per_second();
  if (__builtin_mul_overflow(elapsed / kNanosecondsPerSecond, per_second, &whole) || whole >= kMaxTicks) {
    return kMaxTicks;
  }
  // Below 4.9e9 ticks a second, so this product fits 64 bits.
  const auto part =
      static_cast<std::uint64_t>(elapsed % kNanosecondsPerSecond) * static_cast<std::uint64_t>(per_second);
  return std::min(whole + static_cast<std::int64_t>(part / kNanosecondsPerSecond), kMaxTicks);
}

std::int64_t divided_rounding_up(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor == 0 ? 0 : 1);
}

// The first instant whose tick is `ticks` or later.
Instant to_instant(const Limit& limit, std::int64_t ticks) {
  constexpr std::int64_t kMost = (Instant::max() - kStateEpoch).count();
  const std::int64_t per_nanosecond = limit.ticks_per_nanosecond();
  if (per_nanosecond > 0) {
    return kStateEpoch + Nanoseconds{std::min(divided_rounding_up(ticks, per_nanosecond), kMost)};
  }
  const std::int64_t per_second = limit.ticks_per_second();
  const std::int64_t seconds = ticks / per_second;
  if (seconds >= kMost / kNanosecondsPerSecond) return Instant::max();
  const std::int64_t rest = divided_rounding_up(ticks % per_second * kNanosecondsPerSecond, per_second);
  return kStateEpoch + Nanoseconds{seconds * kNanosecondsPerSecond + rest};
}

// A state from elsewhere may hold anything; what no limit can have written is held at the end of the range.
std::int64_t stored_arrival(State state) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(state.word, kMost));
}

// The stored TAT, but brought back to an empty bucket's where it is further ahead by more than clocks of loops can
// differ: then the clock had run away. Bringing it back for less would forget debt each time two loops take turns.
std::int64_t arrival(const Limit& limit, State state, std::int64_t now) {
  const std::int64_t stored = stored_arrival(state);
  const bool ran_away = stored - limit.ticks_per_burst() > now + limit.ticks_per_second();
  return ran_away ? now + limit.ticks_per_burst() : stored;
}

struct Bucket {
  State state;
  std::int64_t tat;
  std::int64_t now;  // ticks, as tat
  Instant instant;
};

Decision describe(const Limit& limit, const Bucket& bucket, std::int64_t tat) {
  Decision decision;
  if (tat <= bucket.now) {
    decision.remaining = limit.capacity();
    return decision;
  }
  const std::int64_t left = limit.ticks_per_burst() - (tat - bucket.now);
  decision.remaining = left <= 0 ? 0 : static_cast<std::uint32_t>(left / limit.ticks_per_cost());
  decision.reset_after = wait_until(to_instant(limit, tat), bucket.instant);
  return decision;
}

Step unchanged(const Limit& limit, const Bucket& bucket) {
  const bool brought_back = bucket.tat < stored_arrival(bucket.state);
  return {.decision = describe(limit, bucket, bucket.tat),
          .state = brought_back ? State{static_cast<std::uint64_t>(bucket.tat)} : bucket.state};
}

Step charged(const Limit& limit, const Bucket& bucket, std::int64_t tat) {
  Step step = {.decision = describe(limit, bucket, tat), .state = {.word = static_cast<std::uint64_t>(tat)}};
  step.decision.charged = true;
  return step;
}

// A look (cost 0) asks whether anything remains, which is what a cost of 1 asks.
Step decide(const Limit& limit, const Bucket& bucket, std::uint64_t cost, bool keep) {
  const std::uint64_t asked = std::max<std::uint64_t>(cost, 1);
  if (asked > limit.capacity()) {
    Step step = unchanged(limit, bucket);
    step.decision.outcome = Outcome::never;
    step.decision.retry_after = Decision::kNever;
    return step;
  }
  const std::int64_t price = static_cast<std::int64_t>(asked) * limit.ticks_per_cost();
  const std::int64_t earliest = std::max(bucket.tat, bucket.now) - limit.ticks_per_burst() + price;
  if (earliest > bucket.now) {
    Step step = unchanged(limit, bucket);
    step.decision.outcome = Outcome::denied;
    step.decision.retry_after = wait_until(to_instant(limit, earliest), bucket.instant);
    return step;
  }
  if (keep || cost == 0) return unchanged(limit, bucket);
  return charged(limit, bucket, earliest + limit.ticks_per_burst());
}

// What is refunded or debited is at most a full burst: more has no further effect.
std::int64_t price_of(const Limit& limit, std::uint64_t cost) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(cost, limit.capacity())) * limit.ticks_per_cost();
}

Step refund(const Limit& limit, const Bucket& bucket, std::uint64_t cost) {
  if (cost == 0 || bucket.tat <= bucket.now) return unchanged(limit, bucket);
  return charged(limit, bucket, std::max(bucket.now, bucket.tat - price_of(limit, cost)));
}

Step debit(const Limit& limit, const Bucket& bucket, std::uint64_t cost) {
  if (cost == 0) return unchanged(limit, bucket);
  const std::int64_t base = std::max(bucket.tat, bucket.now);
  const std::int64_t room = std::max<std::int64_t>(bucket.now + limit.ticks_per_burst() - base, 0);
  return charged(limit, bucket, base + std::min(price_of(limit, cost), room));
}

}  // namespace

Step apply(const Limit& limit, Verb verb, State state, Instant now, std::uint64_t cost, Instant) noexcept {
  const std::int64_t ticks = to_ticks(limit, now);
  const Bucket bucket = {.state = state, .tat = arrival(limit, state, ticks), .now = ticks, .instant = now};
  switch (verb) {
    case Verb::decide: return decide(limit, bucket, cost, false);
    case Verb::look: return decide(limit, bucket, cost, true);
    case Verb::refund: return refund(limit, bucket, cost);
    case Verb::debit: return debit(limit, bucket, cost);
  }
  __builtin_unreachable();
}

Instant fresh_at(const Limit& limit, State state) noexcept { return to_instant(limit, stored_arrival(state)); }

std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept {
  const std::int64_t ticks = to_ticks(limit, now);
  const std::int64_t used = arrival(limit, state, ticks) - ticks;
  if (used <= 0) return 0;
  if (limit.ticks_per_burst() - used < limit.ticks_per_cost()) return 255;
  // Burst ticks may come near 2^62, so dividing first keeps the product in range at a loss below 1/255.
  const std::int64_t step = limit.ticks_per_burst() / 255 + 1;
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(used / step, 1, 254));
}

State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept {
  const std::int64_t ticks = to_ticks(limit, now);
  std::int64_t fresh = to_ticks(limit, fresh_at);
  if (to_instant(limit, fresh) < fresh_at) ++fresh;
  if (fresh <= ticks) return {};
  return {.word = static_cast<std::uint64_t>(std::min(fresh, ticks + limit.ticks_per_burst()))};
}

}  // namespace penstock::algorithm::gcra
