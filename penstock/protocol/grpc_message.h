#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "penstock/base/error.h"

namespace penstock::protocol {

// The prefix of a gRPC message: one byte that says whether it is compressed, four with its length, the highest first.
inline constexpr std::size_t kMessagePrefix = 5;
inline constexpr std::size_t kMaxMessageBytes = 4 * 1024 * 1024;

enum class FrameFault : std::uint8_t {
  none,
  incomplete,  // more bytes are needed
  compressed,  // with a coding that the client named: we know none
  malformed,
  too_large,
};

struct Frame {
  FrameFault fault = FrameFault::none;
  std::string_view message;  // without its prefix
  std::size_t size = 0;      // with its prefix
};

// The first message of `bytes`; `encoding` is the request's grpc-encoding. Cost: no allocation.
[[nodiscard]] Frame first_message(std::string_view bytes, std::string_view encoding) noexcept;

// The one message of a unary request's body: anything missing or left over is a fault.
[[nodiscard]] Frame only_message(std::string_view body, std::string_view encoding) noexcept;

// The status that gRPC wants for a fault, with the sizes. Requires: a fault.
[[nodiscard]] Error describe(FrameFault fault, std::string_view bytes, std::string_view encoding);

// The status for a message that was dropped while it came, so that its size is not known.
[[nodiscard]] Error too_large();

// Writes a message with its prefix into `out`: `begin_message` makes it hold the prefix alone, then the message is
// appended, then `end_message` fills in its length. We never compress.
void begin_message(std::string& out);
void end_message(std::string& out) noexcept;

// A whole message with its prefix, for callers that need not reuse memory.
[[nodiscard]] std::string framed(std::string_view message);

}  // namespace penstock::protocol
