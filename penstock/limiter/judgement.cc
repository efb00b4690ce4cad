#include "penstock/limiter/judgement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace penstock::limiter {
namespace {

using algorithm::Decision;
using algorithm::Outcome;

// A wait to compare by: never is the longest.
Nanoseconds wait_to_compare(const Decision& decision) {
  return decision.outcome == Outcome::never ? Nanoseconds::max() : decision.retry_after;
}

bool decides_before(const Decision& candidate, const Decision& best) {
  if (candidate.outcome == Outcome::unanswered || best.outcome == Outcome::unanswered) {
    return !best.refused() && (candidate.refused() || best.outcome != Outcome::unanswered);
  }
  if (candidate.refused() != best.refused()) return candidate.refused();
  if (candidate.refused()) return wait_to_compare(candidate) > wait_to_compare(best);
  return candidate.remaining < best.remaining;
}

std::size_t deciding(std::span<const Decision> decisions) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < decisions.size(); ++i) {
    if (decides_before(decisions[i], decisions[best])) best = i;
  }
  return best;
}

std::int64_t seconds_rounded_up(Nanoseconds wait) { return std::chrono::ceil<std::chrono::seconds>(wait).count(); }

// The original's own limit, which knows what it has counted.
bool is_original_window(const algorithm::Limit& limit) {
  return limit.algorithm() == algorithm::Algorithm::fixed_window && limit.counts_refused();
}

// The whole seconds to the window's end, 1 to its length, whatever was counted. `offset` as in Limit::window_offset.
std::int64_t seconds_to_window_end(std::int64_t window_seconds, Instant now, Nanoseconds offset) {
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(now + offset).time_since_epoch().count();
  const std::int64_t into_window = seconds % window_seconds;
  return window_seconds - (into_window < 0 ? into_window + window_seconds : into_window);
}

Nanoseconds window_offset(const Plan& plan, const rules::RuleLimit& limit) {
  if (!limit.limit.spreads_windows()) return Nanoseconds{0};
  return limit.limit.window_offset(rules::counter_of(plan.match.counter, limit));
}

std::optional<std::int64_t> reset_seconds(const Plan& plan, const Status& status, Instant now) {
  const algorithm::Limit& limit = status.limit->limit;
  const Decision& decision = status.decision;
  const bool told =
      limit.spreads_windows() && (decision.retry_after > Nanoseconds{0} || decision.reset_after > Nanoseconds{0});
  if (told && limit.algorithm() == algorithm::Algorithm::fixed_window) {
    return seconds_rounded_up(std::max(decision.retry_after, decision.reset_after));
  }
  if (limit.algorithm() == algorithm::Algorithm::fixed_window) {
    return seconds_to_window_end(limit.window_seconds(), now, window_offset(plan, *status.limit));
  }
  if (status.code == Code::ok) return seconds_rounded_up(decision.reset_after);
  if (decision.outcome == Outcome::never) return std::nullopt;
  return seconds_rounded_up(decision.retry_after);
}

// The longest time that an admitted caller has to hold back; nobody waits for a shadow.
Nanoseconds wait_of(const Status& status, std::span<const Decision> decisions) {
  if (status.code != Code::ok || (status.rule != nullptr && status.rule->shadow_mode)) return Nanoseconds{0};
  Nanoseconds longest{0};
  for (const Decision& decision : decisions) {
    if (decision.outcome == Outcome::allowed) longest = std::max(longest, decision.retry_after);
  }
  return longest;
}

bool is_quota(const Status& status, bool all_quota) {
  if (status.rule == nullptr) return all_quota;
  return !status.rule->unlimited && (all_quota || status.rule->quota_mode);
}

struct Attribution {
  std::uint64_t within = 0, near = 0, over = 0;
};

std::uint64_t near_threshold(std::uint64_t limit, float ratio) {
  const float product = std::floor(static_cast<float>(limit) * ratio);
  if (!(product > 0)) return 0;
  constexpr float kBeyond = 18446744073709551616.0F;
  return product >= kBeyond ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(product);
}

Attribution attribute(std::uint64_t limit, std::uint64_t before, std::uint64_t hits, float ratio) {
  const std::uint64_t near = near_threshold(limit, ratio);
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t after = hits > most - before ? most : before + hits;
  if (after <= limit) {
    const std::uint64_t close = after <= near ? 0 : before >= near ? hits : after - near;
    return {.within = hits, .near = close};
  }
  if (before >= limit) return {.over = hits};
  const std::uint64_t from = std::max(near, before);
  return {.near = from >= limit ? 0 : limit - from, .over = after - limit};
}

Attribution attribute(const Status& status, std::uint64_t hits, float ratio) {
  const algorithm::Limit& limit = status.limit->limit;
  if (is_original_window(limit)) return attribute(limit.amount(), status.decision.count_before, hits, ratio);
  if (status.decision.refused()) return {.over = hits};
  const std::uint64_t used = limit.capacity() - std::min(limit.capacity(), status.decision.remaining);
  return attribute(limit.capacity(), used - std::min(used, hits), hits, ratio);
}

}  // namespace

Status judge(const Plan& plan, std::span<const rules::RuleLimit> limits, std::span<const Decision> decisions,
             Instant now) noexcept {
  const rules::Rule* rule = plan.is_override() ? nullptr : plan.match.rule;
  Status status = {.rule = plan.replaced ? nullptr : rule};
  if (limits.empty()) {
    if (status.rule != nullptr && status.rule->unlimited) status.remaining = Status::kUnlimited;
    return status;
  }
  const std::size_t best = deciding(decisions);
  status.limit = &limits[best];
  status.decision = decisions[best];
  const bool shadow = status.rule != nullptr && status.rule->shadow_mode;
  status.code = status.decision.refused() && !shadow ? Code::over_limit : Code::ok;
  status.remaining = status.decision.remaining;
  status.reset_seconds = reset_seconds(plan, status, now);
  status.wait = wait_of(status, decisions);
  return status;
}

Code overall_code(std::span<const Status> statuses, bool all_quota) noexcept {
  bool any_quota = false;
  bool all_quota_over = true;
  for (const Status& status : statuses) {
    const bool over = status.code == Code::over_limit;
    const bool quota = is_quota(status, all_quota);
    if (over && !quota) return Code::over_limit;
    any_quota |= quota;
    all_quota_over &= !quota || over;
  }
  return any_quota && all_quota_over ? Code::over_limit : Code::ok;
}

Nanoseconds overall_wait(Code overall, std::span<const Status> statuses) noexcept {
  if (overall != Code::ok) return Nanoseconds{0};
  Nanoseconds longest{0};
  for (const Status& status : statuses) longest = std::max(longest, status.wait);
  return longest;
}

const Status* deciding_status(std::span<const Status> statuses, bool all_quota) noexcept {
  const Status* refusing = nullptr;
  const Status* least = nullptr;
  for (const Status& status : statuses) {
    if (status.limit == nullptr) continue;
    if (status.code == Code::over_limit && !is_quota(status, all_quota)) refusing = &status;
    if (least == nullptr || status.remaining < least->remaining) least = &status;
  }
  return refusing != nullptr ? refusing : least;
}

void count_hits(const Plan& plan, const Status& status, float near_limit_ratio, RuleCounters& counters) noexcept {
  if (!status.decision.refused() && !status.decision.charged) return;
  const Attribution hits = attribute(status, plan.hits, near_limit_ratio);
  counters.within_limit.add(hits.within);
  counters.near_limit.add(hits.near);
  counters.over_limit.add(hits.over);
  if (status.decision.cached) counters.over_limit_with_local_cache.add(hits.over);
  if (status.rule->shadow_mode) counters.shadow_mode.add(hits.over);
}

}  // namespace penstock::limiter
