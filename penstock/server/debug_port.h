#pragma once

#include <array>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "penstock/base/error.h"
#include "penstock/protocol/debug_endpoint.h"
#include "penstock/server/address.h"
#include "penstock/server/clock.h"
#include "penstock/server/connection_table.h"
#include "penstock/server/listener.h"
#include "penstock/server/sweep.h"
#include "penstock/transport/http1_server.h"
#include "penstock/transport/patience.h"

namespace penstock::server {

// A port for operators on one context; see protocol::DebugEndpoint. Beyond kMaxConnections a new one is closed at once.
// Threading: Loop-owned.
class DebugPort {
 public:
  static constexpr std::size_t kMaxConnections = 16;

  DebugPort(boost::asio::io_context& io, const WallOffset& clock, const transport::Patience& patience,
            std::vector<protocol::DebugEndpoint::Page> pages);

  // Errors: those of Listener.
  [[nodiscard]] Result<void> open(const Address& address);
  // Ends the port and its connections.
  void close();

  [[nodiscard]] Address bound() const { return listener_.bound(); }

 private:
  using Table = ConnectionTable<transport::Http1Server, protocol::DebugEndpoint>;

  void accept(int descriptor);

  std::array<char, 16 * 1024> read_buffer_{};
  protocol::DebugEndpoint endpoint_;
  Table connections_;
  Listener listener_;
  Sweep sweep_;
};

}  // namespace penstock::server
