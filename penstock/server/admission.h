#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "penstock/base/instant.h"
#include "penstock/metrics/counter.h"
#include "penstock/metrics/named.h"
#include "penstock/server/log.h"
#include "penstock/server/source.h"

namespace penstock::server {

struct AdmissionMetrics {
  metrics::Counter refused_for_count;    // --max-connections
  metrics::Counter refused_for_address;  // --max-connections-per-address
};

inline constexpr std::array<metrics::Named<AdmissionMetrics>, 2> kAdmissionMetrics{{
    {"refused_for_count", &AdmissionMetrics::refused_for_count},
    {"refused_for_address", &AdmissionMetrics::refused_for_address},
}};
static_assert(sizeof(AdmissionMetrics) == kAdmissionMetrics.size() * sizeof(metrics::Counter));

// Decides whether a new connection may stay. A refusal is counted, and logged at most once a second.
// Threading: Loop-owned; the metrics may be read by any thread.
class Admission {
 public:
  struct Limits {
    std::size_t connections;
    std::size_t connections_per_source;  // 0: no limit
  };

  explicit Admission(const Limits& limits) : limits_{limits}, sources_{limits.connections_per_source} {}

  // `open` connections are there already. Where it is true and the source is counted, `leave` has to follow.
  [[nodiscard]] bool enter(const Source& source, std::size_t open, Instant now);
  void leave(const Source& source) { sources_.leave(source); }
  [[nodiscard]] bool counts_sources() const noexcept { return sources_.is_set(); }

  [[nodiscard]] const AdmissionMetrics& metrics() const noexcept { return metrics_; }

 private:
  void log(const std::string& reason, Instant now);

  const Limits limits_;
  SourceLimit sources_;
  AdmissionMetrics metrics_;
  LogGate gate_{1};
};

}  // namespace penstock::server
