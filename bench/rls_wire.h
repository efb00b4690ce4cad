#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::bench {

struct WireEntry {
  std::string key;
  std::string value;
};

// The verdict of a rate limit service on one request, as far as a load client checks it.
struct WireVerdict {
  std::uint64_t code = 0;       // 1 OK, 2 over limit
  std::uint64_t remaining = 0;  // of the first descriptor
};

// RateLimitRequest with one descriptor, behind gRPC's five bytes. By hand and apart from the server's code, so that a
// mistake there cannot agree with one here.
[[nodiscard]] std::string encode_request(std::string_view domain, const std::vector<WireEntry>& entries);

// Reads a RateLimitResponse behind gRPC's five bytes; nothing when it is not exactly one whole, sound message.
[[nodiscard]] std::optional<WireVerdict> decode_response(std::string_view body);

}  // namespace penstock::bench
