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
  metrics::Counter waiting_refused;  // beyond kMaxWaiting
  // gRPC alone.
  metrics::Counter oversize;         // the transport had dropped the body
  metrics::Counter expired;          // the caller's time had passed when the request was read
  metrics::Counter streams_refused;  // streaming calls beyond a maximum of GrpcStreams: of streams, or of questions
};

inline constexpr std::array<metrics::Named<EndpointMetrics>, 8> kGrpcEndpointMetrics{{
    {"requests", &EndpointMetrics::requests},
    {"unknown_paths", &EndpointMetrics::unknown_paths},
    {"malformed", &EndpointMetrics::malformed},
    {"beyond_maxima", &EndpointMetrics::beyond_maxima},
    {"waiting_refused", &EndpointMetrics::waiting_refused},
    {"oversize", &EndpointMetrics::oversize},
    {"expired", &EndpointMetrics::expired},
    {"streams_refused", &EndpointMetrics::streams_refused},
}};
static_assert(sizeof(EndpointMetrics) == kGrpcEndpointMetrics.size() * sizeof(metrics::Counter));

// Those that can rise on HTTP/1.
inline constexpr std::array<metrics::Named<EndpointMetrics>, 5> kHttpEndpointMetrics{{
    {"requests", &EndpointMetrics::requests},
    {"unknown_paths", &EndpointMetrics::unknown_paths},
    {"malformed", &EndpointMetrics::malformed},
    {"beyond_maxima", &EndpointMetrics::beyond_maxima},
    {"waiting_refused", &EndpointMetrics::waiting_refused},
}};

}  // namespace penstock::protocol
