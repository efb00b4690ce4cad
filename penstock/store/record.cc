#include "penstock/store/record.h"

#include <algorithm>

namespace penstock::store {
namespace {

std::uint32_t coarse_second_rounded_up(Instant instant) {
  const std::int64_t elapsed = since_state_epoch(instant).count();
  const std::int64_t seconds = elapsed / kNanosecondsPerSecond + (elapsed % kNanosecondsPerSecond == 0 ? 0 : 1);
  return static_cast<std::uint32_t>(std::min<std::int64_t>(seconds, Record::kFarthestSecond));
}

std::uint8_t kind_of(const algorithm::Limit& limit) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(limit.algorithm()) + 1);
}

bool foreign_scale(const algorithm::Limit& limit, const Record& record) {
  return record.kind == kind_of(limit) && record.scale_check != limit.scale_check();
}

algorithm::State state_under(const algorithm::Limit& limit, const Record& record, Instant now, ReadTally& tally) {
  if (record.empty()) return {};
  if (record.kind != kind_of(limit)) {
    ++tally.mistaken;
    return {};
  }
  if (!foreign_scale(limit, record)) return record.state;
  ++tally.rebuilt;
  return algorithm::rebuild(limit, kStateEpoch + std::chrono::seconds{record.fresh_second}, now);
}

Record record_of(const algorithm::Limit& limit, algorithm::State state, Instant now) {
  const Instant fresh = algorithm::fresh_at(limit, state);
  if (fresh <= std::max(now, kStateEpoch)) return {};
  return {.state = state,
          .fresh_second = coarse_second_rounded_up(fresh),
          .kind = kind_of(limit),
          .used_share = algorithm::used_share(limit, state, now),
          .scale_check = limit.scale_check()};
}

}  // namespace

std::uint32_t coarse_second(Instant now) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(since_state_epoch(now).count() / kNanosecondsPerSecond, Record::kFarthestSecond));
}

algorithm::Decision apply_charge(Record& record, const Charge& charge, algorithm::Verb verb, Instant now,
                                 ReadTally& tally) noexcept {
  const algorithm::Limit& limit = *charge.limit;
  const Instant charged_at = charge.charged_at == Instant::max() ? now : charge.charged_at;
  const algorithm::State state = state_under(limit, record, now, tally);
  const algorithm::Step step = algorithm::apply(limit, verb, state, now, charge.cost, charged_at);
  if (step.decision.charged || step.state != state || foreign_scale(limit, record)) {
    record = record_of(limit, step.state, now);
  }
  return step.decision;
}

}  // namespace penstock::store
