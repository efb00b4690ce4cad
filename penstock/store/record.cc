#include "penstock/store/record.h"

#include <algorithm>

namespace penstock::store {
namespace {

// A peak may come to a bucket and go.
bool same_algorithm(const algorithm::Limit& limit, const Record& record) {
  const auto without_peak = static_cast<int>(limit.algorithm()) + 1;
  return record.kind == without_peak || (record.kind == algorithm::Limit::kPeakKind && limit.is_bucket());
}

bool foreign_scale(const algorithm::Limit& limit, const Record& record) {
  return same_algorithm(limit, record) && (record.kind << 8 | record.scale_check) != limit.scale_check();
}

algorithm::State state_under(const algorithm::Limit& limit, const Record& record, Instant now, ReadTally& tally) {
  if (record.empty()) return {};
  if (!same_algorithm(limit, record)) {
    ++tally.mistaken;
    return {};
  }
  if (!foreign_scale(limit, record)) return record.state;
  ++tally.rebuilt;
  return algorithm::rebuild(limit, kStateEpoch + std::chrono::seconds{record.fresh_second}, now);
}

// The counter's own time: what is earlier in the year 1677 or later in 2262 than instants go is held there.
Instant own_time(Instant instant, Nanoseconds offset) {
  return instant > Instant::max() - offset ? Instant::max() : instant + offset;
}

// The share of the limit that is used after a step that left the counter not fresh.
std::uint8_t used_share(const algorithm::Limit& limit, const algorithm::Step& step, Instant now) {
  const std::uint32_t remaining = step.decision.remaining;
  // Of the two rates of a peak the one that is used more.
  if (limit.has_peak() && remaining > 0)
    return static_cast<std::uint8_t>(1 + algorithm::used_share(limit, step.state, now) * 13 / 255);
  return static_cast<std::uint8_t>(share_of(limit.capacity(), remaining));
}

}  // namespace

std::uint32_t coarse_second(Instant now) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(since_state_epoch(now).count() / kNanosecondsPerSecond, Record::kFarthestSecond));
}

Record record_after(const algorithm::Limit& limit, const algorithm::Step& step, Instant now) noexcept {
  if (step.decision.reset_after == Nanoseconds{0}) return {};
  return {.state = step.state,
          .fresh_second = fresh_second(step.decision, now),
          .kind = limit.state_kind(),
          .used_share = used_share(limit, step, now),
          .scale_check = static_cast<std::uint8_t>(limit.scale_check())};
}

algorithm::Decision apply_charge(Record& record, const Charge& charge, algorithm::Verb verb, Instant now,
                                 ReadTally& tally, algorithm::LogPlaces places) noexcept {
  const algorithm::Limit& limit = *charge.limit;
  const Nanoseconds offset = limit.window_offset(charge.counter);
  const algorithm::Ask ask = {.verb = verb,
                              .accepts_wait = charge.accepts_wait,
                              .cost = charge.cost,
                              .now = own_time(now, offset),
                              .charged_at = own_time(charge.charged_at, offset)};
  const algorithm::State state = state_under(limit, record, now, tally);
  const algorithm::Step step = algorithm::apply(limit, state, ask, places);
  if (step.decision.charged || step.state != state || foreign_scale(limit, record)) {
    record = record_after(limit, step, now);
  }
  return step.decision;
}

}  // namespace penstock::store
