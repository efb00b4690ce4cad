#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "penstock/algorithm/decision.h"
#include "penstock/metrics/counter.h"
#include "penstock/metrics/named.h"
#include "penstock/rules/rule.h"

namespace penstock::limiter {

// The counts of envoyproxy/ratelimit for one rule.
struct RuleCounters {
  metrics::Counter total_hits;
  metrics::Counter over_limit;
  metrics::Counter near_limit;
  metrics::Counter within_limit;
  metrics::Counter shadow_mode;
  metrics::Counter over_limit_with_local_cache;  // refused without asking the store
};

inline constexpr std::array<metrics::Named<RuleCounters>, 6> kRuleCounters{{
    {"total_hits", &RuleCounters::total_hits},
    {"over_limit", &RuleCounters::over_limit},
    {"near_limit", &RuleCounters::near_limit},
    {"within_limit", &RuleCounters::within_limit},
    {"shadow_mode", &RuleCounters::shadow_mode},
    {"over_limit_with_local_cache", &RuleCounters::over_limit_with_local_cache},
}};
static_assert(sizeof(RuleCounters) == kRuleCounters.size() * sizeof(metrics::Counter));

// Decisions that a store did not make, by why it did not and by what was answered in its place.
struct DegradedCounters {
  static constexpr std::size_t kCauses = algorithm::kCauses.size();
  std::array<std::array<metrics::Counter, rules::kOnStoreFailures>, kCauses> decisions;
};

// What one loop's limiter has counted. Threading: the counters are written by the loop and may be read by any thread;
// the list `rules` itself is made anew when rules are given, so others read it only while none are.
struct Statistics {
  std::deque<RuleCounters> rules;  // by Rule::index
  DegradedCounters degraded;
  metrics::Counter checks;
  metrics::Counter over_limit_checks;
  metrics::Counter global_shadow_mode;  // checks that would have been over, but for LimiterOptions::shadow_mode
  metrics::Counter failed_checks;
  metrics::Counter unknown_domains;
  metrics::Counter unanswered_groups;
  metrics::Counter waiting_refused;  // beyond Limiter::kMaxWaiting
};

inline constexpr std::array<metrics::Named<Statistics>, 7> kStatistics{{
    {"checks", &Statistics::checks},
    {"over_limit_checks", &Statistics::over_limit_checks},
    {"global_shadow_mode", &Statistics::global_shadow_mode},
    {"failed_checks", &Statistics::failed_checks},
    {"unknown_domains", &Statistics::unknown_domains},
    {"unanswered_groups", &Statistics::unanswered_groups},
    {"waiting_refused", &Statistics::waiting_refused},
}};
static_assert(sizeof(Statistics) == sizeof(std::deque<RuleCounters>) + sizeof(DegradedCounters) +
                                        kStatistics.size() * sizeof(metrics::Counter));

}  // namespace penstock::limiter
