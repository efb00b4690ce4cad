#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "penstock/base/error.h"
#include "penstock/metrics/counter.h"
#include "penstock/protocol/debug_endpoint.h"
#include "penstock/server/address.h"
#include "penstock/server/clock.h"
#include "penstock/server/connection_table.h"
#include "penstock/server/listener.h"
#include "penstock/server/sweep.h"
#include "penstock/transport/http1_server.h"
#include "penstock/transport/patience.h"

namespace penstock::server {

// A port for operators on one context; see protocol::DebugEndpoint. Beyond kMaxConnections a new one is closed at once,
// and counted. Threading: Loop-owned; the counts may be read by any thread.
class DebugPort {
 public:
  static constexpr std::size_t kMaxConnections = 16;
  static constexpr std::size_t kMaxBodyBytes = 16UL * 1024;  // of a request, which no page looks at; also of one read

  DebugPort(boost::asio::io_context& io, const WallOffset& clock, const transport::Patience& patience,
            std::vector<protocol::DebugEndpoint::Page> pages);

  // Errors: those of Listener.
  [[nodiscard]] Result<void> open(const Address& address);
  // Ends the port and its connections.
  void close();

  [[nodiscard]] Address bound() const { return listener_.bound(); }

  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.value(); }
  [[nodiscard]] std::uint64_t accept_failures() const noexcept { return listener_.failures(); }

 private:
  using Table = ConnectionTable<transport::Http1Server, protocol::DebugEndpoint>;

  void accept(int descriptor);

  std::array<char, kMaxBodyBytes> read_buffer_{};
  protocol::DebugEndpoint endpoint_;
  Table connections_;
  metrics::Counter refused_;
  Listener listener_;
  Sweep sweep_;
};

}  // namespace penstock::server
