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
  metrics::Counter refused_for_port;     // a port's part of these
  metrics::Counter refused_for_address;  // --max-connections-per-address
};

inline constexpr std::array<metrics::Named<AdmissionMetrics>, 3> kAdmissionMetrics{{
    {"refused_for_count", &AdmissionMetrics::refused_for_count},
    {"refused_for_port", &AdmissionMetrics::refused_for_port},
    {"refused_for_address", &AdmissionMetrics::refused_for_address},
}};
static_assert(sizeof(AdmissionMetrics) == kAdmissionMetrics.size() * sizeof(metrics::Counter));

// Decides whether a new connection may stay. A refusal is counted, and logged at most once a second.
// Threading: Loop-owned; the metrics may be read by any thread.
class Admission {
 public:
  struct Limits {
    std::size_t connections;
    std::size_t connections_per_source;  // 0: half of them
  };

  // No port takes all places: a health check still comes in where callers hold all theirs, and the other way round.
  [[nodiscard]] static constexpr std::size_t most_on_one_port(std::size_t connections) noexcept {
    return connections - connections / 4;
  }

  explicit Admission(const Limits& limits)
      : limits_{limits},
        sources_{limits.connections_per_source > 0 ? limits.connections_per_source : (limits.connections + 1) / 2} {}

  struct Open {
    std::size_t all;
    std::size_t on_port;
  };

  // `open` connections are there already. Where it is true, `leave` has to follow.
  [[nodiscard]] bool enter(const Source& source, const Open& open, Instant now);
  void leave(const Source& source) { sources_.leave(source); }
  [[nodiscard]] std::size_t most() const noexcept { return limits_.connections; }

  [[nodiscard]] const AdmissionMetrics& metrics() const noexcept { return metrics_; }

 private:
  void log(const std::string& reason, Instant now);

  const Limits limits_;
  SourceLimit sources_;
  AdmissionMetrics metrics_;
  LogGate gate_{1};
};

}  // namespace penstock::server
