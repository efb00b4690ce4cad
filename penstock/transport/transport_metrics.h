#pragma once

#include <array>

#include "penstock/metrics/counter.h"
#include "penstock/metrics/named.h"

namespace penstock::transport {

// What the HTTP/2 connections of one loop have seen. Threading: written by the loop, read by any thread.
struct Http2Metrics {
  metrics::Counter streams;
  metrics::Counter resets_after_answer;   // the reply was out, or nothing was ever asked
  metrics::Counter resets_before_answer;  // of whole requests: a caller's timeout
  metrics::Counter aborted_requests;      // reset by the peer before they were whole
  metrics::Counter malformed_requests;    // reset by us
  metrics::Counter refused_streams;       // beyond max_concurrent_streams
  metrics::Counter oversize_headers;      // answered 431
  metrics::Counter oversize_bodies;       // beyond max_body_bytes, or max_held_bytes of the connection
  metrics::Counter held_bytes_refused;    // the loop's ByteBudget was spent
  metrics::Counter late_requests;         // not whole within Patience::request: reset
  metrics::Counter late_replies;          // not taken within Patience::reply: reset
  metrics::Counter overflowing_streams;   // answers that a window holds back passed a maximum: reset
  metrics::Counter cut_for_aborts;        // connections, from here on
  metrics::Counter cut_for_idle_frames;
  metrics::Counter cut_for_unread_acks;  // more PINGs or SETTINGS in one go than are answered
  metrics::Counter cut_for_continuations;
  metrics::Counter cut_for_breach;   // any other breach of the protocol
  metrics::Counter cut_for_preface;  // no SETTINGS within Patience::request
  metrics::Counter cut_for_slow_reading;
  metrics::Counter ended_unused;
};

inline constexpr std::array<metrics::Named<Http2Metrics>, 20> kHttp2Metrics{{
    {"streams", &Http2Metrics::streams},
    {"resets_after_answer", &Http2Metrics::resets_after_answer},
    {"resets_before_answer", &Http2Metrics::resets_before_answer},
    {"aborted_requests", &Http2Metrics::aborted_requests},
    {"malformed_requests", &Http2Metrics::malformed_requests},
    {"refused_streams", &Http2Metrics::refused_streams},
    {"oversize_headers", &Http2Metrics::oversize_headers},
    {"oversize_bodies", &Http2Metrics::oversize_bodies},
    {"held_bytes_refused", &Http2Metrics::held_bytes_refused},
    {"late_requests", &Http2Metrics::late_requests},
    {"late_replies", &Http2Metrics::late_replies},
    {"overflowing_streams", &Http2Metrics::overflowing_streams},
    {"cut_for_aborts", &Http2Metrics::cut_for_aborts},
    {"cut_for_idle_frames", &Http2Metrics::cut_for_idle_frames},
    {"cut_for_unread_acks", &Http2Metrics::cut_for_unread_acks},
    {"cut_for_continuations", &Http2Metrics::cut_for_continuations},
    {"cut_for_breach", &Http2Metrics::cut_for_breach},
    {"cut_for_preface", &Http2Metrics::cut_for_preface},
    {"cut_for_slow_reading", &Http2Metrics::cut_for_slow_reading},
    {"ended_unused", &Http2Metrics::ended_unused},
}};
static_assert(sizeof(Http2Metrics) == kHttp2Metrics.size() * sizeof(metrics::Counter));

// As above, for HTTP/1.
struct Http1Metrics {
  metrics::Counter requests;
  metrics::Counter malformed_requests;  // answered 400
  metrics::Counter oversize_headers;    // 431
  metrics::Counter oversize_bodies;     // 413
  metrics::Counter held_bytes_refused;  // 503: the loop's ByteBudget was spent
  metrics::Counter late_requests;       // 408
  metrics::Counter ended_idle;
  metrics::Counter cut_for_slow_reading;
};

inline constexpr std::array<metrics::Named<Http1Metrics>, 8> kHttp1Metrics{{
    {"requests", &Http1Metrics::requests},
    {"malformed_requests", &Http1Metrics::malformed_requests},
    {"oversize_headers", &Http1Metrics::oversize_headers},
    {"oversize_bodies", &Http1Metrics::oversize_bodies},
    {"held_bytes_refused", &Http1Metrics::held_bytes_refused},
    {"late_requests", &Http1Metrics::late_requests},
    {"ended_idle", &Http1Metrics::ended_idle},
    {"cut_for_slow_reading", &Http1Metrics::cut_for_slow_reading},
}};
static_assert(sizeof(Http1Metrics) == kHttp1Metrics.size() * sizeof(metrics::Counter));

}  // namespace penstock::transport
