#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "penstock/base/instant.h"
#include "penstock/limiter/limiter.h"
#include "penstock/protocol/check_batch.h"
#include "penstock/protocol/endpoint_metrics.h"
#include "penstock/protocol/grpc_streams.h"
#include "penstock/protocol/health.h"
#include "penstock/protocol/outbox.h"
#include "penstock/protocol/reply_extras.h"
#include "penstock/protocol/reply_options.h"
#include "penstock/protocol/waiting_replies.h"
#include "penstock/transport/http2_server.h"

namespace penstock::protocol {

// The gRPC services of one event loop: envoy.service.ratelimit.v3.RateLimitService, grpc.health.v1.Health, and server
// reflection (v1 and v1alpha). Any number of connections.
//
// All rate limit requests that one read completed go to the limiter as one batch, or several where they are very many.
// Its verdicts are answered at once, or, where the store answers later, on the stream that asked if it is still there;
// a stream or connection that has gone drops the reply, never the charge. A request whose grpc-timeout has passed is
// answered DEADLINE_EXCEEDED, and charged. The store is given until shortly before the caller's timeout, and no longer
// than kMaxStoreTime.
//
// Threading: Loop-owned. Ownership: borrows the limiter and the outbox for its lifetime, a connection from its first
// `serve` to `forget`. Cost: nothing is allocated between a decoded rate limit request and its encoded reply after
// warm-up.
class GrpcEndpoint final : private limiter::VerdictSink {
 public:
  // Replies that may be outstanding; a further request is answered RESOURCE_EXHAUSTED without being charged. Twice what
  // the limiter lets wait, so that its own bound is met first.
  static constexpr std::size_t kMaxWaiting = 2 * limiter::Limiter::kMaxWaiting;

  GrpcEndpoint(limiter::Limiter& limiter, Outbox& outbox, ReplyOptions options = {});
  ~GrpcEndpoint() = default;
  GrpcEndpoint(const GrpcEndpoint&) = delete;
  GrpcEndpoint& operator=(const GrpcEndpoint&) = delete;

  // Serves what the last `receive` of this connection made ready: all of `requests()`, and `resets()`. What can be
  // answered now is in the connection's output afterwards; the outbox is not called.
  void serve(transport::Http2Server& connection, Instant now);

  // Must be called before a connection that was served is destroyed.
  void forget(transport::Http2Server& connection);

  // What health checks are told; false until set. Watchers are told at once, through the outbox.
  void set_serving(bool serving);

  // Ends the streams that would not end by themselves (Watch, reflection) with UNAVAILABLE, through the outbox. For the
  // end of a drain: a forgotten watcher must not hold the process.
  void end_streams() { streams_.end_all(); }

  [[nodiscard]] const EndpointMetrics& metrics() const noexcept { return metrics_; }

  // The paths that Http2Options::streaming_paths has to name.
  [[nodiscard]] static std::span<const std::string_view> streaming_paths() noexcept;

  // Rate limit requests that were handed to the limiter and have no verdict yet.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  void on_verdict(std::uint64_t ticket, const limiter::Verdict& verdict) override;
  void decide(Instant now);

  void serve_one(transport::Http2Server& connection, const transport::Request& request, Instant now);
  void take_check(transport::Http2Server& connection, const transport::Request& request, Instant now);
  void answer_health(transport::Http2Server& connection, const transport::Request& request);

  Outbox& outbox_;
  ReplyExtender extender_;
  EndpointMetrics metrics_;
  Health health_;
  GrpcStreams streams_;
  WaitingReplies<transport::Http2Server> waiting_{kMaxWaiting};
  CheckBatch batch_;
  std::string reply_;                         // reused
  transport::Http2Server* served_ = nullptr;  // set while `serve` runs
  limiter::Limiter& limiter_;
};

}  // namespace penstock::protocol
