#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "penstock/base/error.h"
#include "penstock/server/address.h"

namespace penstock::server {

// One gRPC call over a connection of its own, in plain text: sends `message` to `path` and waits for the reply's
// message. Blocks the thread, at most for `timeout`, which the server is told too.
// Errors: the status that the server gave; unavailable where it cannot be reached or breaks off; deadline_exceeded.
[[nodiscard]] Result<std::string> unary_call(const Address& server, std::string_view path, std::string_view message,
                                             std::chrono::milliseconds timeout);

}  // namespace penstock::server
