#pragma once

#include <chrono>

#include <boost/asio/ip/tcp.hpp>

namespace penstock::server {

// A peer whose machine is gone sends nothing, not even an end: after kKeepAliveIdle without a packet it is probed every
// kKeepAliveInterval, and given up after kKeepAliveProbes without an answer. An idle connection of a living peer stays.
inline constexpr std::chrono::seconds kKeepAliveIdle{60};
inline constexpr std::chrono::seconds kKeepAliveInterval{10};
inline constexpr int kKeepAliveProbes = 6;

// Gives a connected descriptor to `socket`, without delays, with keep-alive, not blocking. False, and the descriptor
// stays the caller's, when the system does not take it.
[[nodiscard]] bool take_over(int descriptor, boost::asio::ip::tcp::socket& socket);

}  // namespace penstock::server
