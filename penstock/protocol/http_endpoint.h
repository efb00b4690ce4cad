#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/instant.h"
#include "penstock/limiter/limiter.h"
#include "penstock/protocol/check_batch.h"
#include "penstock/protocol/endpoint_metrics.h"
#include "penstock/protocol/outbox.h"
#include "penstock/protocol/reply_extras.h"
#include "penstock/protocol/reply_options.h"
#include "penstock/protocol/waiting_replies.h"
#include "penstock/transport/http1_server.h"

namespace penstock::protocol {

// The HTTP/1.1 port of one event loop, as envoyproxy/ratelimit has it: `/json` (any method, the body a protobuf-JSON
// RateLimitRequest) answers 200, 429, or 400 for whatever is wrong; `/healthcheck` answers 200 "OK" or 500; everything
// else is 404; doubled slashes are redirected (301). A query is ignored. Beyond the original, a 400 says what is wrong
// in the header `x-penstock-error`.
//
// As in GrpcEndpoint all requests of one read are one batch, and verdicts may come late, in any order; the connection
// keeps its replies in the order of its requests. The store is given kMaxStoreTime for each; what it cannot answer by
// then is answered 400, as all errors here.
//
// Threading: Loop-owned. Ownership: borrows the limiter and the outbox for its lifetime, a connection from its first
// `serve` to `forget`. Cost: a few allocations a request.
class HttpEndpoint final : private limiter::VerdictSink {
 public:
  // Replies that may be outstanding; a further request is answered 400 without being charged.
  static constexpr std::size_t kMaxWaiting = 2 * limiter::Limiter::kMaxWaiting;

  HttpEndpoint(limiter::Limiter& limiter, Outbox& outbox, ReplyOptions options = {});
  ~HttpEndpoint() = default;
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  // Serves all of `requests()`. What can be answered now is in the connection's output afterwards; the outbox is not
  // called.
  void serve(transport::Http1Server& connection, Instant now);

  // Must be called before a connection that was served is destroyed.
  void forget(transport::Http1Server& connection) { waiting_.forget(connection); }

  // What `/healthcheck` says; false until set.
  void set_serving(bool serving) noexcept { serving_ = serving; }

  [[nodiscard]] const EndpointMetrics& metrics() const noexcept { return metrics_; }

  // Requests that were handed to the limiter and have no verdict yet.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  struct Reply {
    int status = 200;
    std::string_view content_type;
    std::string body;
    std::string error;     // for `x-penstock-error`; may be empty
    std::string location;  // of a redirect; else empty
  };
  void on_verdict(std::uint64_t ticket, const limiter::Verdict& verdict) override;
  void decide(Instant now);

  void serve_one(transport::Http1Server& connection, const transport::Request& request, Instant now);
  static void send(transport::Http1Server& connection, std::int32_t stream, const Reply& reply);
  [[nodiscard]] static Reply bad_request(std::string error);
  [[nodiscard]] Reply reply_of(std::uint64_t ticket, const limiter::Verdict& verdict);

  Outbox& outbox_;
  ReplyExtender extender_;
  WaitingReplies<transport::Http1Server> waiting_{kMaxWaiting};
  CheckBatch batch_;
  EndpointMetrics metrics_;
  std::string texts_;                         // unescaped texts of the batch; never moves while it is in use
  transport::Http1Server* served_ = nullptr;  // set while `serve` runs
  bool serving_ = false;
  limiter::Limiter& limiter_;
};

}  // namespace penstock::protocol
