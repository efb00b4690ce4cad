#include "penstock/protocol/grpc_streams.h"

#include <algorithm>

#include <fmt/format.h>

#include "penstock/protocol/grpc_message.h"
#include "penstock/protocol/grpc_reply.h"
#include "penstock/transport/http2_server.h"

namespace penstock::protocol {

void GrpcStreams::serve_watch(transport::Http2Server& connection, const transport::Request& request) {
  if (request.oversize) return refuse_oversize({.connection = &connection, .stream = request.stream});
  if (is_open(connection, request.stream)) {
    if (request.body.empty()) return;  // the client has closed its side, which ends nothing
    return end({.connection = &connection, .stream = request.stream},
               {ErrorCode::internal, "Watch takes one message, and another one came", std::nullopt});
  }
  const Frame frame = first_message(request.body, request.grpc_encoding);
  if (frame.fault == FrameFault::incomplete && !request.complete) return;
  if (frame.fault != FrameFault::none || frame.size != request.body.size()) {
    return respond_fault(connection, request, frame.fault == FrameFault::none ? FrameFault::malformed : frame.fault);
  }
  const Result<std::string> service = Health::watched_service(frame.message);
  if (!service) return respond_error(connection, request.stream, service.error().code, service.error().message);

  const ServingStatus status = health_.status_of(*service);
  const Kind kind = status == ServingStatus::service_unknown ? Kind::watch_unknown : Kind::watch;
  const Open watcher{.connection = &connection, .stream = request.stream, .kind = kind};
  if (!open(watcher)) return;
  connection.consume(request.stream, frame.size);
  send_status(watcher, status);
}

void GrpcStreams::serve_reflection(transport::Http2Server& connection, const transport::Request& request) {
  const Open stream{.connection = &connection, .stream = request.stream, .kind = Kind::reflection};
  if (request.oversize) return refuse_oversize(stream);
  if (!is_open(connection, request.stream) && !open(stream)) return;
  const std::size_t answered = answer_reflection(stream, request);
  if (!is_open(connection, request.stream)) return;
  const bool something_left = answered != request.body.size();
  connection.consume(request.stream, answered);
  if (!request.complete) return;
  if (something_left) {
    return end(stream, {ErrorCode::internal, "the stream ends within a message", std::nullopt});
  }
  end(stream, {ErrorCode::ok, "", std::nullopt});
}

std::size_t GrpcStreams::answer_reflection(Open stream, const transport::Request& request) {
  std::string_view left = request.body;
  for (std::size_t questions = 0;; ++questions) {
    const Frame frame = first_message(left, request.grpc_encoding);
    if (frame.fault == FrameFault::incomplete) return request.body.size() - left.size();
    Error error;
    if (frame.fault != FrameFault::none) {
      error = describe(frame.fault, left, request.grpc_encoding);
    } else if (questions == kMaxQuestionsAtOnce) {
      refused_.add();
      error = {ErrorCode::resource_exhausted,
               fmt::format("more than {} questions at once; wait for answers", kMaxQuestionsAtOnce), std::nullopt};
    } else {
      begin_message(reply_);
      if (auto answered = reflection_.answer(frame.message, reply_); !answered) error = std::move(answered.error());
    }
    if (!error.message.empty()) {
      end(stream, error);
      return 0;
    }
    end_message(reply_);
    stream.connection->send_data(stream.stream, reply_);
    left.remove_prefix(frame.size);
  }
}

void GrpcStreams::tell_health() {
  for (const Open& each : open_) {
    if (each.kind != Kind::watch) continue;
    send_status(each, health_.serving() ? ServingStatus::serving : ServingStatus::not_serving);
    outbox_.flush(*each.connection);
  }
}

void GrpcStreams::drop_resets(const transport::Http2Server& connection) {
  if (open_.empty() || connection.resets().empty()) return;
  std::erase_if(open_, [&connection](const Open& each) {
    return each.connection == &connection &&
           std::ranges::find(connection.resets(), each.stream) != connection.resets().end();
  });
}

void GrpcStreams::forget(const transport::Http2Server& connection) {
  std::erase_if(open_, [&connection](const Open& each) { return each.connection == &connection; });
}

void GrpcStreams::end_all() {
  for (const Open& each : open_) {
    end_answer(*each.connection, each.stream, ErrorCode::unavailable, "the server is shutting down");
    outbox_.flush(*each.connection);
  }
  open_.clear();
}

bool GrpcStreams::is_open(const transport::Http2Server& connection, std::int32_t stream) const noexcept {
  return std::ranges::any_of(open_, [&connection, stream](const Open& each) {
    return each.connection == &connection && each.stream == stream;
  });
}

bool GrpcStreams::open(Open stream) {
  const auto of_peer = std::ranges::count(open_, stream.connection, &Open::connection);
  const bool peer_has_enough = of_peer >= static_cast<std::ptrdiff_t>(kMaxOpenPerConnection);
  if (open_.size() == kMaxOpen || peer_has_enough) {
    refused_.add();
    respond_error(
        *stream.connection, stream.stream, ErrorCode::resource_exhausted,
        fmt::format("{} streams {}are open, which is the most", peer_has_enough ? kMaxOpenPerConnection : kMaxOpen,
                    peer_has_enough ? "of this connection " : ""));
    return false;
  }
  open_.push_back(stream);
  begin_answer(*stream.connection, stream.stream);
  return true;
}

void GrpcStreams::end(Open stream, const Error& error) {
  end_answer(*stream.connection, stream.stream, error.code, error.message);
  std::erase_if(open_, [&stream](const Open& each) {
    return each.connection == stream.connection && each.stream == stream.stream;
  });
}

void GrpcStreams::refuse_oversize(Open stream) {
  const Error error = too_large();
  if (is_open(*stream.connection, stream.stream)) return end(stream, error);
  respond_error(*stream.connection, stream.stream, error.code, error.message);
}

void GrpcStreams::send_status(const Open& watcher, ServingStatus status) {
  begin_message(reply_);
  Health::append_status(status, reply_);
  end_message(reply_);
  watcher.connection->send_data(watcher.stream, reply_);
}

}  // namespace penstock::protocol
