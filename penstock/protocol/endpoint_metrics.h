#pragma once

#include <array>

#include "penstock/metrics/counter.h"
#include "penstock/metrics/named.h"

namespace penstock::protocol {

// What an endpoint has answered without a verdict. Threading: written by the loop, read by any thread.
struct EndpointMetrics {
  metrics::Counter requests;         // of all kinds, and streams
  metrics::Counter unknown_paths;    // and unknown methods of a service
  metrics::Counter malformed;        // no request of this protocol, or no such message
  metrics::Counter beyond_maxima;    // refused by CheckBatch
  metrics::Counter oversize;         // the transport had dropped the body
  metrics::Counter waiting_refused;  // beyond kMaxWaiting
  metrics::Counter expired;          // the caller's time had passed when the request was read
};

inline constexpr std::array<metrics::Named<EndpointMetrics>, 7> kEndpointMetrics{{
    {"requests", &EndpointMetrics::requests},
    {"unknown_paths", &EndpointMetrics::unknown_paths},
    {"malformed", &EndpointMetrics::malformed},
    {"beyond_maxima", &EndpointMetrics::beyond_maxima},
    {"oversize", &EndpointMetrics::oversize},
    {"waiting_refused", &EndpointMetrics::waiting_refused},
    {"expired", &EndpointMetrics::expired},
}};
static_assert(sizeof(EndpointMetrics) == kEndpointMetrics.size() * sizeof(metrics::Counter));

}  // namespace penstock::protocol
