#include "penstock/protocol/grpc_reply.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "penstock/protocol/grpc_status.h"

namespace penstock::protocol {
namespace {

using transport::Header;

constexpr std::array<Header, 1> kGrpcHeaders{{{"content-type", "application/grpc"}}};
constexpr std::array<Header, 1> kOkTrailers{{{"grpc-status", "0"}}};

}  // namespace

void respond_message(transport::Http2Server& connection, std::int32_t stream, std::string_view framed) {
  connection.respond(stream, {.status = 200, .headers = kGrpcHeaders, .body = framed, .trailers = kOkTrailers});
}

void respond_error(transport::Http2Server& connection, std::int32_t stream, ErrorCode code, std::string_view text) {
  std::string message;
  append_percent_encoded(text, message);
  const std::array<Header, 3> headers{
      {kGrpcHeaders[0], {"grpc-status", status_number(code)}, {"grpc-message", message}}};
  connection.respond(stream, {.status = 200, .headers = headers, .body = {}, .trailers = {}});
}

void respond_fault(transport::Http2Server& connection, const transport::Request& request, FrameFault fault) {
  const Error error = describe(fault, request.body, request.grpc_encoding);
  std::string message;
  append_percent_encoded(error.message, message);
  const std::array<Header, 4> headers{{kGrpcHeaders[0],
                                       {"grpc-status", status_number(error.code)},
                                       {"grpc-message", message},
                                       {"grpc-accept-encoding", "identity"}}};
  const std::size_t count = fault == FrameFault::compressed ? 4 : 3;
  connection.respond(request.stream,
                     {.status = 200, .headers = std::span{headers}.first(count), .body = {}, .trailers = {}});
}

void begin_answer(transport::Http2Server& connection, std::int32_t stream) {
  connection.begin_stream(stream, kGrpcHeaders);
}

void end_answer(transport::Http2Server& connection, std::int32_t stream, ErrorCode code, std::string_view text) {
  std::string message;
  append_percent_encoded(text, message);
  const std::array<Header, 2> trailers{{{"grpc-status", status_number(code)}, {"grpc-message", message}}};
  const std::span<const Header> all{trailers};
  connection.end_stream(stream, message.empty() ? all.first(1) : all);
}

void respond_http(transport::Http2Server& connection, std::int32_t stream, int status, std::string_view text) {
  static constexpr std::array<Header, 1> kPlain{{{"content-type", "text/plain; charset=utf-8"}}};
  static constexpr std::array<Header, 2> kPlainPost{{kPlain[0], {"allow", "POST"}}};
  const std::span<const Header> headers = status == 405 ? std::span<const Header>{kPlainPost} : kPlain;
  connection.respond(stream, {.status = status, .headers = headers, .body = text, .trailers = {}});
}

}  // namespace penstock::protocol
