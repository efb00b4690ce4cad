#pragma once

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

// What one loop's limiter has counted. Threading: the counters are written by the loop and may be read by any thread;
// the list `rules` itself is made anew when rules are given, so others read it only while none are.
struct Statistics {
  std::deque<RuleCounters> rules;  // by Rule::index
  metrics::Counter checks;
  metrics::Counter over_limit_checks;
  metrics::Counter failed_checks;
  metrics::Counter unknown_domains;
  metrics::Counter unanswered_groups;
  metrics::Counter waiting_refused;  // beyond Limiter::kMaxWaiting
};

}  // namespace penstock::limiter
