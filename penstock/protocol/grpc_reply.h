#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/base/error.h"
#include "penstock/protocol/grpc_message.h"
#include "penstock/transport/http2_server.h"

namespace penstock::protocol {

// Answers in the forms of gRPC over HTTP/2. A message is never compressed.

// A whole unary answer: one message, already with its prefix, and the status OK. Cost: no allocation.
void respond_message(transport::Http2Server& connection, std::int32_t stream, std::string_view framed);

// An answer without a message (Trailers-Only).
void respond_error(transport::Http2Server& connection, std::int32_t stream, ErrorCode code, std::string_view text);

// An answer to a request whose message cannot be taken; with grpc-accept-encoding where it is compressed. Requires: a
// fault.
void respond_fault(transport::Http2Server& connection, const transport::Request& request, FrameFault fault);

// Headers, and the end, of a streaming answer.
void begin_answer(transport::Http2Server& connection, std::int32_t stream);
void end_answer(transport::Http2Server& connection, std::int32_t stream, ErrorCode code, std::string_view text);

// An answer to what is no gRPC request at all: an HTTP status and a text for people.
void respond_http(transport::Http2Server& connection, std::int32_t stream, int status, std::string_view text);

}  // namespace penstock::protocol
