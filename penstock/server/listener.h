#pragma once

#include <cstdint>
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "penstock/base/error.h"
#include "penstock/metrics/counter.h"
#include "penstock/server/address.h"
#include "penstock/server/log.h"
#include "penstock/server/source.h"

namespace penstock::server {

// A listening TCP socket that hands on connected descriptors. When the process has no descriptors left it pauses for
// kPause instead of spinning. Threading: Loop-owned (of the context it was opened on).
class Listener {
 public:
  static constexpr std::chrono::milliseconds kPause{100};

  // `accept` takes the descriptor, or closes it.
  Listener(boost::asio::io_context& io, std::function<void(int, const Source&)> accept);

  // Errors: unavailable, naming the address and the system's reason.
  [[nodiscard]] Result<void> open(const Address& address);
  void close();

  // The address as bound, with the port that the system chose.
  [[nodiscard]] Address bound() const;

  // Connections that could not be accepted. Threading: read by any thread.
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_.value(); }

 private:
  void accept_next();

  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::function<void(int, const Source&)> accept_;
  metrics::Counter failures_;
  LogGate gate_{1};
};

}  // namespace penstock::server
