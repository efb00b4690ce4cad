#pragma once

#include <string>
#include <string_view>

#include "penstock/transport/http1_exchange.h"
#include "penstock/transport/message.h"
#include "penstock/transport/output_buffer.h"

namespace penstock::transport {

// RFC 9110 15's words for a status; "<unknown-status>" for others.
[[nodiscard]] std::string_view reason_of(int status);

// A reply as bytes, as Http1Server::respond says. Cost: no allocation but what `out` needs.
void append_reply(OutputBuffer& out, const Http1Exchange& exchange, const Response& response);
void append_reply(std::string& out, const Http1Exchange& exchange, const Response& response);

}  // namespace penstock::transport
