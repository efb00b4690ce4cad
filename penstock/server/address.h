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

}  // namespace penstock::server
