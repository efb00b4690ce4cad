#pragma once

#include <string_view>

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>

#include "penstock/base/error.h"

namespace penstock::protocol {

// A generated message out of its bytes. Errors: internal, as gRPC wants for bytes that are no such message (strings
// that are no UTF-8 included). Cost: what libprotobuf allocates; not for the hot path.
template <class Message>
[[nodiscard]] Result<Message> parse_message(std::string_view bytes) {
  const google::protobuf::LogSilencer quiet;  // a caller's bad bytes are no news for our log
  Result<Message> message;
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::internal, fmt::format("{} bytes are no {}", bytes.size(), message->GetTypeName()));
  }
  return message;
}

}  // namespace penstock::protocol
