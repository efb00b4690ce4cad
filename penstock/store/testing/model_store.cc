#include "penstock/store/testing/model_store.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "penstock/algorithm/sliding_log.h"

namespace penstock::store::testing {

using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;

namespace {

bool counted_though_refused(const Group& group, const Charge& charge) {
  return group.mode == GroupMode::spare_others && charge.limit->counts_refused();
}

// A log with places for one more entry, whatever it had.
algorithm::State with_room(const algorithm::State& state, std::vector<algorithm::LogEntry>& entries) {
  std::vector<algorithm::LogEntry> more(
      std::min<std::size_t>(std::bit_ceil(algorithm::log_size(state) + 1), algorithm::kMaxLogAmount));
  const algorithm::State moved = algorithm::move_log(state, entries, {.ring = 1, .places = more});
  entries = more;
  return moved;
}

}  // namespace

Decision ModelStore::apply(Counters& counters, const Charge& charge, Verb verb, Instant now) {
  const Identity identity{charge.counter.low, charge.counter.high};
  const algorithm::Limit& limit = *charge.limit;
  algorithm::State state;
  std::vector<algorithm::LogEntry> entries;
  bool rebuilt = false;
  if (const auto found = counters.find(identity); found != counters.end()) {
    const Kept& kept = found->second;
    rebuilt = kept.scale_check != limit.scale_check();
    state = rebuilt ? algorithm::rebuild(limit, kept.fresh_at, now) : kept.state;
    entries = kept.entries;
  }
  if (limit.is_log()) state = with_room(state, entries);
  const Nanoseconds offset = limit.window_offset(charge.counter);
  const Instant charged_at = charge.charged_at == Instant::max() ? now : charge.charged_at;
  const algorithm::Ask ask = {.verb = verb,
                              .accepts_wait = charge.accepts_wait,
                              .cost = charge.cost,
                              .now = now + offset,
                              .charged_at = charged_at + offset};
  const algorithm::Step step = algorithm::apply(limit, state, ask, entries);
  if (!step.decision.charged && step.state == state && !rebuilt) return step.decision;
  const Instant fresh = algorithm::fresh_at(limit, step.state, entries) - offset;
  counters.erase(identity);
  if (fresh > now) {
    counters.emplace(identity, Kept{.state = step.state,
                                    .scale_check = limit.scale_check(),
                                    .fresh_at = std::chrono::ceil<std::chrono::seconds>(fresh),
                                    .entries = entries});
  }
  return step.decision;
}

Decision ModelStore::look(Counters counters, const Charge& charge, Instant now) {
  return apply(counters, charge, Verb::look, now);
}

// What the last of `charges` and those before it that took effect on its counter would get as one charge.
Decision ModelStore::look_with_earlier(const Counters& counters, const Group& group, std::span<const Charge> charges,
                                       const std::vector<bool>& refused, Instant now) {
  Charge together = charges.back();
  for (std::size_t i = 0; i + 1 < charges.size(); ++i) {
    const bool took_effect = !refused[i] || counted_though_refused(group, charges[i]);
    if (charges[i].counter == together.counter && !charges[i].observer && took_effect) together.cost += charges[i].cost;
  }
  return look(counters, together, now);
}

void ModelStore::decide_refused_alone(std::span<const Charge> charges, std::span<Decision> decisions, Instant now) {
  std::vector<bool> refused(charges.size());
  for (std::size_t i = 0; i < charges.size(); ++i) {
    refused[i] = !charges[i].observer && look(counters_, charges[i], now).refused();
  }
  const bool any = std::ranges::find(refused, true) != refused.end();
  for (std::size_t i = 0; i < charges.size(); ++i) {
    decisions[i] = apply(counters_, charges[i], any && !refused[i] ? Verb::look : Verb::decide, now);
  }
}

void ModelStore::decide(const Group& group, std::span<const Charge> charges, std::span<Decision> decisions,
                        Instant now) {
  const Counters before = counters_;
  Counters tried = counters_;
  std::vector<bool> refused(charges.size());
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (charges[i].observer) continue;
    const Counters unchanged = tried;
    decisions[i] = apply(tried, charges[i], Verb::decide, now);
    refused[i] = decisions[i].refused();
    if (refused[i] && !counted_though_refused(group, charges[i])) tried = unchanged;
  }
  if (std::ranges::find(refused, true) == refused.end()) {
    for (std::size_t i = 0; i < charges.size(); ++i) {
      if (charges[i].observer) decisions[i] = apply(tried, charges[i], Verb::decide, now);
    }
    counters_ = tried;
    return;
  }
  for (std::size_t i = 0; i < charges.size(); ++i) {
    const Decision first = decisions[i];
    if (refused[i] && counted_though_refused(group, charges[i])) {
      const bool fits_now = !look(counters_, charges[i], now).refused();
      decisions[i] = apply(counters_, charges[i], fits_now ? Verb::debit : Verb::decide, now);
    } else {
      decisions[i] = apply(counters_, charges[i], Verb::look, now);
    }
    if (!refused[i] || decisions[i].refused()) continue;
    const Decision joint = look_with_earlier(before, group, charges.first(i + 1), refused, now);
    decisions[i].outcome = joint.refused() ? joint.outcome : first.outcome;
    decisions[i].retry_after = joint.refused() ? joint.retry_after : first.retry_after;
  }
}

void ModelStore::submit(const Batch& batch, Instant now, LateDecisions&) {
  std::size_t next = 0;
  for (const Group& group : batch.groups) {
    const auto charges = batch.charges.subspan(next, group.charge_count);
    const auto decisions = batch.decisions.subspan(next, group.charge_count);
    next += group.charge_count;
    if (group.mode == GroupMode::refused_alone && group.verb == Verb::decide) {
      decide_refused_alone(charges, decisions, now);
      continue;
    }
    if (group.mode != GroupMode::each && group.verb == Verb::decide) {
      decide(group, charges, decisions, now);
      continue;
    }
    for (std::size_t i = 0; i < charges.size(); ++i) {
      decisions[i] =
          group.verb == Verb::look ? look(counters_, charges[i], now) : apply(counters_, charges[i], group.verb, now);
    }
  }
}

}  // namespace penstock::store::testing
