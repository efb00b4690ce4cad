#pragma once

#include <array>

#include "penstock/metrics/counter.h"
#include "penstock/metrics/named.h"

namespace penstock::store::redis {

// What one loop's front of a Redis store has counted. Threading: as metrics::Counter.
struct RedisMetrics {
  metrics::Counter connects;         // attempts
  metrics::Counter connected;        // that ended in a connection that takes commands
  metrics::Counter lost;             // connections and attempts that ended
  metrics::Counter breaker_trips;    // a server that did not answer is not waited for any more
  metrics::Counter window_charges;   // windows that are counted by INCRBY
  metrics::Counter script_charges;   // all others
  metrics::Counter script_calls;     // which carry many charges each
  metrics::Counter expiries;         // EXPIRE that followed an INCRBY
  metrics::Counter states_mistaken;  // values that were not ours, taken as fresh
  metrics::Counter states_rebuilt;   // of limits that had another rate
  metrics::Counter scripts_missing;  // NOSCRIPT: sent again with its text
  metrics::Counter moved;            // MOVED, ASK: sent again to another node
  metrics::Counter late_replies;     // to who had been answered without it
  metrics::Counter timeout_charges;  // these six: charges without an answer, by cause
  metrics::Counter refused_charges;
  metrics::Counter readonly_charges;
  metrics::Counter overloaded_charges;
  metrics::Counter breaker_charges;
  metrics::Counter script_failures;
};

inline constexpr std::array<metrics::Named<RedisMetrics>, 19> kRedisMetrics{{
    {"connects", &RedisMetrics::connects},
    {"connected", &RedisMetrics::connected},
    {"lost", &RedisMetrics::lost},
    {"breaker_trips", &RedisMetrics::breaker_trips},
    {"window_charges", &RedisMetrics::window_charges},
    {"script_charges", &RedisMetrics::script_charges},
    {"script_calls", &RedisMetrics::script_calls},
    {"expiries", &RedisMetrics::expiries},
    {"states_mistaken", &RedisMetrics::states_mistaken},
    {"states_rebuilt", &RedisMetrics::states_rebuilt},
    {"scripts_missing", &RedisMetrics::scripts_missing},
    {"moved", &RedisMetrics::moved},
    {"late_replies", &RedisMetrics::late_replies},
    {"unanswered_timeout", &RedisMetrics::timeout_charges},
    {"unanswered_refused", &RedisMetrics::refused_charges},
    {"unanswered_readonly", &RedisMetrics::readonly_charges},
    {"unanswered_overloaded", &RedisMetrics::overloaded_charges},
    {"unanswered_breaker", &RedisMetrics::breaker_charges},
    {"unanswered_script", &RedisMetrics::script_failures},
}};
static_assert(sizeof(RedisMetrics) == kRedisMetrics.size() * sizeof(metrics::Counter));

}  // namespace penstock::store::redis
