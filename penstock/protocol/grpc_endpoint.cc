#include "penstock/protocol/grpc_endpoint.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "penstock/protocol/grpc_message.h"
#include "penstock/protocol/grpc_reply.h"
#include "penstock/protocol/grpc_status.h"
#include "penstock/protocol/rls_message.h"

namespace penstock::protocol {
namespace {

constexpr std::string_view kShouldRateLimit = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
constexpr std::string_view kHealthCheck = "/grpc.health.v1.Health/Check";
constexpr std::string_view kHealthList = "/grpc.health.v1.Health/List";
constexpr std::string_view kHealthWatch = "/grpc.health.v1.Health/Watch";
constexpr std::string_view kReflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
constexpr std::string_view kReflectionAlpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

constexpr std::size_t kShown = 200;  // of a caller's text in an error

constexpr std::array kUnary{kShouldRateLimit, kHealthCheck, kHealthList};
constexpr std::array kStreaming{kHealthWatch, kReflection, kReflectionAlpha};

std::string_view service_of(std::string_view path) { return path.substr(0, path.rfind('/')); }

std::string describe_unknown(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (!path.starts_with('/') || slash == 0) {
    return fmt::format("{} is no method; /package.Service/Method is accepted", path.substr(0, kShown));
  }
  const auto serves = [path](std::string_view known) { return service_of(known) == service_of(path); };
  if (std::ranges::any_of(kUnary, serves) || std::ranges::any_of(kStreaming, serves)) {
    return fmt::format("service {} has no method {}", service_of(path).substr(1), path.substr(slash + 1, kShown));
  }
  return fmt::format("unknown service {}", service_of(path).substr(1, kShown));
}

// Answers what is no gRPC request; false then.
bool is_grpc(transport::Http2Server& connection, const transport::Request& request) {
  if (request.method != "POST") {
    const std::string_view text = request.method == "HEAD" ? "" : "gRPC requests use POST\n";
    respond_http(connection, request.stream, 405, text);
    return false;
  }
  if (is_grpc_content_type(request.content_type)) return true;
  respond_http(connection, request.stream, 415,
               "accepted content types are application/grpc and application/grpc+proto\n");
  return false;
}

// The one message of a unary request; nothing, and answered, if there is something wrong with it.
std::optional<std::string_view> message_of(transport::Http2Server& connection, const transport::Request& request) {
  if (request.oversize) {
    const Error error = too_large();
    respond_error(connection, request.stream, error.code, error.message);
    return std::nullopt;
  }
  const Frame frame = only_message(request.body, request.grpc_encoding);
  if (frame.fault == FrameFault::none) return frame.message;
  respond_fault(connection, request, frame.fault);
  return std::nullopt;
}

}  // namespace

GrpcEndpoint::GrpcEndpoint(limiter::Limiter& limiter, Outbox& outbox, ReplyOptions options)
    : outbox_{outbox},
      extender_{std::move(options)},
      streams_{health_, outbox, metrics_.streams_refused},
      limiter_{limiter} {}

std::span<const std::string_view> GrpcEndpoint::streaming_paths() noexcept { return kStreaming; }

void GrpcEndpoint::serve(transport::Http2Server& connection, Instant now) {
  served_ = &connection;
  batch_.clear();
  streams_.drop_resets(connection);
  for (const transport::Request& request : connection.requests()) {
    serve_one(connection, request, now);
    if (batch_.full()) decide(now);
  }
  decide(now);
  served_ = nullptr;
}

void GrpcEndpoint::forget(transport::Http2Server& connection) {
  waiting_.forget(connection);
  streams_.forget(connection);
}

void GrpcEndpoint::set_serving(bool serving) {
  if (serving == health_.serving()) return;
  health_.set_serving(serving);
  streams_.tell_health();
}

void GrpcEndpoint::decide(Instant now) {
  if (extender_.active()) extender_.note(batch_.checks());
  batch_.decide(limiter_, now, *this);
}

void GrpcEndpoint::serve_one(transport::Http2Server& connection, const transport::Request& request, Instant now) {
  metrics_.requests.add();
  if (request.oversize) metrics_.oversize.add();
  if (!is_grpc(connection, request)) return metrics_.malformed.add();
  if (request.path == kShouldRateLimit) return take_check(connection, request, now);
  if (request.path == kHealthCheck || request.path == kHealthList) return answer_health(connection, request);
  if (request.path == kHealthWatch) return streams_.serve_watch(connection, request);
  if (request.path == kReflection || request.path == kReflectionAlpha) {
    return streams_.serve_reflection(connection, request);
  }
  metrics_.unknown_paths.add();
  respond_error(connection, request.stream, ErrorCode::unimplemented, describe_unknown(request.path));
}

void GrpcEndpoint::take_check(transport::Http2Server& connection, const transport::Request& request, Instant now) {
  const std::optional<std::string_view> message = message_of(connection, request);
  if (!message) return;
  std::optional<Nanoseconds> timeout;
  if (!request.grpc_timeout.empty()) {
    timeout = parse_timeout(request.grpc_timeout);
    if (!timeout) {
      metrics_.malformed.add();
      return respond_error(connection, request.stream, ErrorCode::internal,
                           fmt::format("grpc-timeout is {}; one to eight digits and a unit of H M S m u n are accepted",
                                       request.grpc_timeout.substr(0, kShown)));
    }
  }
  const std::uint64_t refused = batch_.refused();
  if (auto decoded = decode_request(*message, batch_); !decoded) {
    (batch_.refused() == refused ? metrics_.malformed : metrics_.beyond_maxima).add();
    return respond_error(connection, request.stream, decoded.error().code, decoded.error().message);
  }

  const bool expired = timeout && request.age >= *timeout;
  const std::optional<std::uint64_t> ticket =
      waiting_.add({.connection = &connection, .stream = request.stream, .expired = expired});
  if (!ticket) {
    batch_.abandon();
    metrics_.waiting_refused.add();
    return respond_error(connection, request.stream, ErrorCode::resource_exhausted,
                         fmt::format("{} requests wait for an answer, which is the most", kMaxWaiting));
  }
  if (expired) metrics_.expired.add();
  // A charge that comes too late for its caller is still a charge: its deadline must not keep the store from it.
  const Instant latest = now + kMaxStoreTime;
  batch_.commit(*ticket, timeout && !expired ? std::min(latest, store_deadline(now - request.age, *timeout)) : latest);
}

void GrpcEndpoint::answer_health(transport::Http2Server& connection, const transport::Request& request) {
  const std::optional<std::string_view> message = message_of(connection, request);
  if (!message) return;
  begin_message(reply_);
  const Result<void> answered =
      request.path == kHealthCheck ? health_.check(*message, reply_) : health_.list(*message, reply_);
  if (!answered) {
    return respond_error(connection, request.stream, answered.error().code, answered.error().message);
  }
  end_message(reply_);
  respond_message(connection, request.stream, reply_);
}

void GrpcEndpoint::on_verdict(std::uint64_t ticket, const limiter::Verdict& verdict) {
  const auto place = waiting_.take(ticket);
  if (place.connection == nullptr || place.expired || verdict.error != nullptr) extender_.drop(ticket);
  if (place.connection == nullptr) return;
  if (place.expired) {
    respond_error(*place.connection, place.stream, ErrorCode::deadline_exceeded,
                  "the request's deadline had passed when it was read; it was charged");
  } else if (verdict.error != nullptr) {
    respond_error(*place.connection, place.stream, verdict.error->code, verdict.error->message);
  } else {
    begin_message(reply_);
    encode_response(verdict, reply_);
    if (extender_.active()) append_extras(extender_.extend(ticket, verdict), reply_);
    end_message(reply_);
    respond_message(*place.connection, place.stream, reply_);
  }
  if (place.connection != served_) outbox_.flush(*place.connection);
}

}  // namespace penstock::protocol
