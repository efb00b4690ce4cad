#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/error.h"

namespace penstock::server {

// Where to listen or whom to ask: an IP address or, for `ask`, a name, and a port; port 0 lets the system choose one.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

// "host:port", "[v6]:port", or ":port" for all addresses. Errors: invalid_argument, naming the text.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

[[nodiscard]] std::string to_string(const Address& address);

// Whether only this machine can reach it: "localhost", 127.0.0.0/8, ::1, and the mapped form of those. Other names are
// not looked up, and are not loopback.
[[nodiscard]] bool is_loopback(const Address& address);

}  // namespace penstock::server
