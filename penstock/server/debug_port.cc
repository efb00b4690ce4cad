#include "penstock/server/debug_port.h"

#include <utility>

#include <unistd.h>

namespace penstock::server {

DebugPort::DebugPort(boost::asio::io_context& io, const WallOffset& clock, const transport::Patience& patience,
                     std::vector<protocol::DebugEndpoint::Page> pages)
    : endpoint_{std::move(pages)},
      connections_{{.io = io,
                    .services = {.clock = clock, .read_buffer = read_buffer_},
                    .endpoint = endpoint_,
                    .options = {.max_body_bytes = kMaxBodyBytes},
                    .on_closed = [](const Source&) {}}},
      listener_{io, [this](int descriptor, const Source&) { accept(descriptor); }},
      sweep_{io, patience, [this, patience](Instant now) { connections_.expire(now, patience); }} {}

Result<void> DebugPort::open(const Address& address) {
  auto opened = listener_.open(address);
  if (opened) sweep_.start();
  return opened;
}

void DebugPort::close() {
  listener_.close();
  sweep_.stop();
  connections_.close_all();
}

void DebugPort::accept(int descriptor) {
  if (connections_.size() >= kMaxConnections) {
    refused_.add();
    ::close(descriptor);
  } else {
    connections_.adopt(descriptor, {});
  }
}

}  // namespace penstock::server
