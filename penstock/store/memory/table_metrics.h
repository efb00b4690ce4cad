#pragma once

#include <array>

#include "penstock/metrics/counter.h"
#include "penstock/metrics/named.h"

namespace penstock::store {

// What one loop's decisions did to the table.
struct MemoryStoreMetrics {
  metrics::Counter inserted;     // counters that took a place
  metrics::Counter expired;      // that gave theirs up since they were as good as fresh; seen when others need places
  metrics::Counter evicted;      // that were pushed out though they were not, and start fresh
  metrics::Counter emptied;      // that gave theirs up since a refund made them as good as fresh
  metrics::Counter long_probes;  // decisions that searched both buckets, the longest probe there is: newcomers, mostly
  metrics::Counter lock_waits;   // locks that another thread held
  metrics::Counter rebuilt;      // states written under another scale
  metrics::Counter mistaken;     // states of another algorithm, read as fresh

  // Sliding logs. All loops' taken less returned is what is in use.
  metrics::Counter log_rings_taken;
  metrics::Counter log_rings_returned;
  metrics::Counter log_bytes_taken;
  metrics::Counter log_bytes_returned;
  metrics::Counter logs_folded;     // charges that found no room for an entry, so that they count for longer
  metrics::Counter logs_reclaimed;  // rings that were taken from logs as good as fresh, since others needed them
};

inline constexpr std::array<metrics::Named<MemoryStoreMetrics>, 14> kMemoryStoreMetrics{{
    {"inserted", &MemoryStoreMetrics::inserted},
    {"expired", &MemoryStoreMetrics::expired},
    {"evicted", &MemoryStoreMetrics::evicted},
    {"emptied", &MemoryStoreMetrics::emptied},
    {"long_probes", &MemoryStoreMetrics::long_probes},
    {"lock_waits", &MemoryStoreMetrics::lock_waits},
    {"rebuilt", &MemoryStoreMetrics::rebuilt},
    {"mistaken", &MemoryStoreMetrics::mistaken},
    {"log_rings_taken", &MemoryStoreMetrics::log_rings_taken},
    {"log_rings_returned", &MemoryStoreMetrics::log_rings_returned},
    {"log_bytes_taken", &MemoryStoreMetrics::log_bytes_taken},
    {"log_bytes_returned", &MemoryStoreMetrics::log_bytes_returned},
    {"logs_folded", &MemoryStoreMetrics::logs_folded},
    {"logs_reclaimed", &MemoryStoreMetrics::logs_reclaimed},
}};
static_assert(sizeof(MemoryStoreMetrics) == kMemoryStoreMetrics.size() * sizeof(metrics::Counter));

}  // namespace penstock::store
