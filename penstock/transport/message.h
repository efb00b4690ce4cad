#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "penstock/base/instant.h"

namespace penstock::transport {

struct Header {
  std::string_view name;  // lower case
  std::string_view value;
};

// A request that has arrived: whole (`complete`), or, on a streaming path, as far as it has come. Only the fields that
// a rate limit service looks at are kept. Views are valid until the next call of `receive` or, for a stream that is
// answered later, until its reply.
struct Request {
  std::int32_t stream = 0;  // names the request in `respond`; HTTP/1.1 counts them from 1
  std::string_view method;
  std::string_view path;  // with the query, as sent
  std::string_view host;  // of HTTP/1 only: the Host field
  std::string_view content_type;
  std::string_view grpc_timeout;
  std::string_view grpc_encoding;
  std::string_view body;  // streaming: what was not consumed yet
  Nanoseconds age{0};     // since its headers were read, by the clock of `receive`
  bool complete = false;  // the client will send no more
  bool oversize = false;  // the body passed the maximum and was dropped
};

// A whole reply. For gRPC: status 200, the message in `body`, the status in `trailers`; an error without a message puts
// its status in `headers` and leaves body and trailers empty. All views are copied before the call returns.
struct Response {
  int status = 200;
  std::span<const Header> headers;
  std::string_view body;
  std::span<const Header> trailers;  // HTTP/2 only
};

}  // namespace penstock::transport
