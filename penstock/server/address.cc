#include "penstock/server/address.h"

#include <charconv>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

namespace penstock::server {
namespace {

auto wrong(std::string_view text) {
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("'{}' is not an address; accepted are HOST:PORT, [IPV6]:PORT and :PORT, with a port from 0 to "
                  "65535",
                  text));
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (!host.empty() && host.front() == '[') {
    if (host.back() != ']' || host.size() < 3) return wrong(text);
    host = host.substr(1, host.size() - 2);
  } else if (host.contains(':')) {
    return wrong(text);
  }
  Address address;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{} || end != port.data() + port.size()) return wrong(text);
  address.host = host.empty() ? "0.0.0.0" : std::string{host};
  return address;
}

std::string to_string(const Address& address) {
  const bool v6 = address.host.contains(':');
  return v6 ? fmt::format("[{}]:{}", address.host, address.port) : fmt::format("{}:{}", address.host, address.port);
}

bool is_loopback(const Address& address) {
  if (address.host == "localhost") return true;
  boost::system::error_code error;
  const auto ip = boost::asio::ip::make_address(address.host, error);
  if (error) return false;
  const bool mapped = ip.is_v6() && ip.to_v6().is_v4_mapped();
  return mapped ? boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, ip.to_v6()).is_loopback()
                : ip.is_loopback();
}

}  // namespace penstock::server
