#include "penstock/server/listener.h"

#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "penstock/server/clock.h"

namespace penstock::server {

namespace asio = boost::asio;
using asio::ip::tcp;

Listener::Listener(asio::io_context& io, std::function<void(int, const Source&)> accept)
    : acceptor_{io}, pause_{io}, accept_{std::move(accept)} {}

Result<void> Listener::open(const Address& address) {
  const auto failed = [&](const boost::system::error_code& error) {
    return fail(ErrorCode::unavailable, fmt::format("cannot listen on {}: {}", to_string(address), error.message()));
  };
  boost::system::error_code error;
  const std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  const asio::ip::address ip = asio::ip::make_address(host, error);
  if (error) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("cannot listen on {}: '{}' is not an IP address", to_string(address), address.host));
  }
  const tcp::endpoint endpoint{ip, address.port};
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address{true}, error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return failed(error);
  accept_next();
  return {};
}

void Listener::close() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

Address Listener::bound() const {
  boost::system::error_code ignored;
  const tcp::endpoint endpoint = acceptor_.local_endpoint(ignored);
  return {.host = endpoint.address().to_string(), .port = endpoint.port()};
}

void Listener::accept_next() {
  acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
    if (!acceptor_.is_open()) return;
    if (!error) {
      boost::system::error_code gone;  // already: it counts for no address then
      const tcp::endpoint peer = socket.remote_endpoint(gone);
      accept_(socket.release(), source_of(peer.address()));
      accept_next();
      return;
    }
    failures_.add();
    if (const LogGate::Pass pass = gate_.pass(Instant{read_wall()}); pass.open) {
      spdlog::warn("cannot accept a connection: {}; trying again in {} ms ({} more since the last line)",
                   error.message(), kPause.count(), pass.suppressed);
    }
    pause_.expires_after(kPause);
    pause_.async_wait([this](boost::system::error_code cancelled) {
      if (!cancelled) accept_next();
    });
  });
}

}  // namespace penstock::server
