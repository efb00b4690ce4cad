#include "penstock/protocol/grpc_message.h"

#include <fmt/format.h>

#include "penstock/base/check.h"

namespace penstock::protocol {
namespace {

std::size_t length_in(std::string_view prefix) {
  std::size_t length = 0;
  for (const char c : prefix.substr(1, 4)) length = length << 8 | static_cast<unsigned char>(c);
  return length;
}

bool names_a_coding(std::string_view encoding) { return !encoding.empty() && encoding != "identity"; }

std::string describe_malformed(std::string_view bytes) {
  if (!bytes.empty() && bytes[0] == 1) {
    return "a message is marked as compressed, but grpc-encoding names no coding";
  }
  if (!bytes.empty() && bytes[0] != 0) {
    return fmt::format("the first byte of a message's prefix is {}; 0 is accepted",
                       static_cast<unsigned char>(bytes[0]));
  }
  if (bytes.size() < kMessagePrefix) {
    return fmt::format("the request ends after {} bytes; a message begins with a prefix of {}", bytes.size(),
                       kMessagePrefix);
  }
  return fmt::format("the request holds {} bytes after the prefix of a message of {}", bytes.size() - kMessagePrefix,
                     length_in(bytes));
}

}  // namespace

Frame first_message(std::string_view bytes, std::string_view encoding) noexcept {
  if (bytes.empty()) return {.fault = FrameFault::incomplete};
  if (bytes[0] == 1 && names_a_coding(encoding)) return {.fault = FrameFault::compressed};
  if (bytes[0] != 0) return {.fault = FrameFault::malformed};
  if (bytes.size() < kMessagePrefix) return {.fault = FrameFault::incomplete};
  const std::size_t length = length_in(bytes);
  if (length > kMaxMessageBytes) return {.fault = FrameFault::too_large};
  if (bytes.size() - kMessagePrefix < length) return {.fault = FrameFault::incomplete};
  return {.message = bytes.substr(kMessagePrefix, length), .size = kMessagePrefix + length};
}

Frame only_message(std::string_view body, std::string_view encoding) noexcept {
  Frame frame = first_message(body, encoding);
  if (frame.fault == FrameFault::incomplete || (frame.fault == FrameFault::none && frame.size != body.size())) {
    frame.fault = FrameFault::malformed;
  }
  return frame;
}

Error describe(FrameFault fault, std::string_view bytes, std::string_view encoding) {
  Error error;
  switch (fault) {
    case FrameFault::compressed:
      error.code = ErrorCode::unimplemented;
      error.message =
          fmt::format("messages compressed with {} are not accepted; send them uncompressed", encoding.substr(0, 64));
      return error;
    case FrameFault::too_large:
      error.code = ErrorCode::resource_exhausted;
      error.message =
          fmt::format("the message has {} bytes; at most {} are accepted", length_in(bytes), kMaxMessageBytes);
      return error;
    case FrameFault::none:
    case FrameFault::incomplete:
    case FrameFault::malformed: break;
  }
  error.code = ErrorCode::internal;
  error.message = describe_malformed(bytes);
  return error;
}

Error too_large() {
  return {.code = ErrorCode::resource_exhausted,
          .message = fmt::format("the message is too large; at most {} bytes are accepted", kMaxMessageBytes),
          .place = std::nullopt};
}

void begin_message(std::string& out) { out.assign(kMessagePrefix, '\0'); }

void end_message(std::string& out) noexcept {
  PENSTOCK_DCHECK(out.size() >= kMessagePrefix);
  std::size_t length = out.size() - kMessagePrefix;
  for (std::size_t i = 4; i >= 1; --i, length >>= 8) out[i] = static_cast<char>(length & 0xff);
}

std::string framed(std::string_view message) {
  std::string out;
  begin_message(out);
  out += message;
  end_message(out);
  return out;
}

}  // namespace penstock::protocol
