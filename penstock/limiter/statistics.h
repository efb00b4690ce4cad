#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "penstock/metrics/counter.h"

namespace penstock::limiter {

// The counts of envoyproxy/ratelimit for one rule.
struct RuleCounters {
  metrics::Counter total_hits;
  metrics::Counter over_limit;
  metrics::Counter near_limit;
  metrics::Counter within_limit;
  metrics::Counter shadow_mode;
};

// What one loop's limiter has counted. Threading: written by the loop, read by any thread.
struct Statistics {
  std::deque<RuleCounters> rules;  // by Rule::index; grows only when rules are given
  metrics::Counter checks;
  metrics::Counter over_limit_checks;
  metrics::Counter failed_checks;
  metrics::Counter unknown_domains;
  metrics::Counter unanswered_groups;
  metrics::Counter waiting_refused;  // beyond Limiter::kMaxWaiting
};

}  // namespace penstock::limiter
