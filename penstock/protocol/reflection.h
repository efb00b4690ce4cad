#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/error.h"

namespace penstock::protocol {

// What grpc.reflection.v1.ServerReflection (and v1alpha, whose bytes are the same) says of this server: its services,
// and the definitions of their messages with everything that they import, so that a client needs no files.
//
// Answers come from a pool of its own, built on the first question: libprotobuf's pool of generated types remembers
// every name that was asked for in vain, for ever. Threading: Loop-owned. Cost: allocations; not for the hot path.
class Reflection {
 public:
  Reflection();
  ~Reflection();
  Reflection(const Reflection&) = delete;
  Reflection& operator=(const Reflection&) = delete;

  // Appends the response to one request. What is not known is answered by an error response with NOT_FOUND.
  // Errors: internal for bytes that are no request.
  [[nodiscard]] Result<void> answer(std::string_view request, std::string& reply);

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace penstock::protocol
