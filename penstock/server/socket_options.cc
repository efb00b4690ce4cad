#include "penstock/server/socket_options.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace penstock::server {
namespace {

void set(int descriptor, int level, int option, int value) {
  ::setsockopt(descriptor, level, option, &value, sizeof value);
}

}  // namespace

bool take_over(int descriptor, boost::asio::ip::tcp::socket& socket) {
  set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(kKeepAliveIdle.count()));
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(kKeepAliveInterval.count()));
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
  boost::system::error_code error;
  socket.assign(boost::asio::ip::tcp::v4(), descriptor, error);
  if (error) return false;
  socket.non_blocking(true, error);
  if (!error) return true;
  boost::system::error_code ignored;
  socket.release(ignored);
  return false;
}

}  // namespace penstock::server
