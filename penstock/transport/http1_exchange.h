#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "penstock/base/instant.h"
#include "penstock/transport/message.h"

namespace penstock::transport {

// One request of an HTTP/1 connection, and its reply while that waits for its turn. Reused with the memory it has.
struct Http1Exchange {
  std::int32_t stream = 0;
  Instant began;
  std::string method;
  std::string path;
  std::string host;
  std::string content_type;
  std::string grpc_timeout;
  std::string grpc_encoding;
  std::string body;
  bool http_1_0 = false;
  bool head = false;
  bool close = false;  // the connection ends with the reply
  bool answered = false;
  std::string reply;

  [[nodiscard]] Request request(Instant now) const noexcept {
    return {.stream = stream,
            .method = method,
            .path = path,
            .host = host,
            .content_type = content_type,
            .grpc_timeout = grpc_timeout,
            .grpc_encoding = grpc_encoding,
            .body = body,
            .age = now - began,
            .complete = true,
            .oversize = false};
  }

  // As new; each string keeps its memory up to `retained` bytes.
  void forget(std::size_t retained) {
    for (std::string* text : {&method, &path, &host, &content_type, &grpc_timeout, &grpc_encoding, &body, &reply}) {
      text->clear();
      if (text->capacity() > retained) text->shrink_to_fit();
    }
    http_1_0 = head = close = answered = false;
  }
};

}  // namespace penstock::transport
