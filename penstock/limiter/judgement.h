#pragma once

#include <span>

#include "penstock/base/instant.h"
#include "penstock/limiter/plan.h"
#include "penstock/limiter/statistics.h"
#include "penstock/limiter/verdict.h"

namespace penstock::limiter {

// From decisions to what a caller is told, and to what is counted. Pure but for the counters it is given.

// The status of a descriptor whose limits were decided as `decisions` (one for each of `limits`) at `now`.
//   - Of several limits the refusing one with the longest wait decides, else the one with the least remaining.
//   - An unanswered decision gives a status with that decision and code ok; `overall_code` and the caller see to it.
[[nodiscard]] Status judge(const Plan& plan, std::span<const rules::RuleLimit> limits,
                           std::span<const algorithm::Decision> decisions, Instant now) noexcept;

// Over limit if a descriptor without quota mode is over, or if there are quota descriptors and all of them are over.
// With `all_quota` every descriptor but an unlimited one is one of quota mode, also one that nothing limits.
[[nodiscard]] Code overall_code(std::span<const Status> statuses, bool all_quota) noexcept;

// See Verdict::wait.
[[nodiscard]] Nanoseconds overall_wait(Code overall, std::span<const Status> statuses) noexcept;

// See Verdict::deciding.
[[nodiscard]] const Status* deciding_status(std::span<const Status> statuses, bool all_quota) noexcept;

// Attributes the hits of one descriptor as envoyproxy/ratelimit does, exactly for its own limit, the fixed window that
// counts refused cost. All others know what remains, not what was counted: their limit is the capacity, refused hits
// are all over the limit, and never near it. Hits that a limit would have let pass and that were not charged, since
// other limits of their group refused, are within, near and over nothing. Requires: status.rule and status.limit are
// set, the decision is an answer.
void count_hits(const Plan& plan, const Status& status, float near_limit_ratio, RuleCounters& counters) noexcept;

}  // namespace penstock::limiter
