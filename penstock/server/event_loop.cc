#include "penstock/server/event_loop.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace penstock::server {
namespace {

transport::Http2Options http2_options() {
  transport::Http2Options options;
  options.streaming_paths = protocol::GrpcEndpoint::streaming_paths();
  return options;
}

}  // namespace

EventLoop::EventLoop(std::shared_ptr<store::Table> table, const WallOffset& clock,
                     const limiter::LimiterOptions& options, std::shared_ptr<const rules::RuleSet> rules)
    : read_buffer_(kReadBufferBytes),
      services_{.clock = clock, .read_buffer = read_buffer_},
      store_{std::move(table)},
      limiter_{store_, options},
      grpc_{limiter_, *this},
      http_{limiter_, *this} {
  // Asio makes a loop's epoll, event and timer descriptors with its first socket; now they are there, later they may
  // not be to be had.
  const boost::asio::ip::tcp::socket first{io_};
  limiter_.use_rules(std::move(rules));
  grpc_.set_serving(true);
  http_.set_serving(true);
}

EventLoop::~EventLoop() { stop(); }

void EventLoop::start() {
  thread_ = std::jthread{[this] { io_.run(); }};
}

template <class Transport, class Endpoint, class Options>
void EventLoop::adopt(int descriptor, Endpoint& endpoint, const Options& options,
                      std::unordered_map<const Transport*, std::shared_ptr<Connection<Transport, Endpoint>>>& table) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  boost::asio::ip::tcp::socket socket{io_};
  boost::system::error_code error;
  socket.assign(boost::asio::ip::tcp::v4(), descriptor, error);
  if (!error) socket.non_blocking(true, error);
  if (error) {
    ::close(descriptor);
    connections_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  auto connection = std::make_shared<Connection<Transport, Endpoint>>(
      std::move(socket), services_, endpoint, options, [this, &table](const Transport& closed) {
        table.erase(&closed);
        connections_.fetch_sub(1, std::memory_order_relaxed);
      });
  table.emplace(&connection->transport(), connection);
  connection->start();
  if (draining_) connection->announce_end();
  if (shutting_down_) connection->shut_down();
}

void EventLoop::adopt_grpc(int descriptor) {
  connections_.fetch_add(1, std::memory_order_relaxed);
  boost::asio::post(io_, [this, descriptor] { adopt(descriptor, grpc_, http2_options(), grpc_connections_); });
}

void EventLoop::adopt_http(int descriptor) {
  connections_.fetch_add(1, std::memory_order_relaxed);
  boost::asio::post(io_,
                    [this, descriptor] { adopt(descriptor, http_, transport::Http1Options{}, http_connections_); });
}

namespace {

// Closing changes the table, so its connections are taken out first.
template <class Table>
auto snapshot(const Table& table) {
  std::vector<typename Table::mapped_type> connections;
  connections.reserve(table.size());
  for (const auto& [transport, connection] : table) connections.push_back(connection);
  return connections;
}

// Those of `wanted` that are still open.
template <class Table, class Wanted>
void write_all(const Table& table, const Wanted& wanted) {
  for (const auto* transport : wanted) {
    const auto found = table.find(transport);
    if (found == table.end()) continue;
    const auto kept = found->second;
    kept->flush();
  }
}

}  // namespace

void EventLoop::set_serving(bool serving) {
  boost::asio::post(io_, [this, serving] {
    grpc_.set_serving(serving);
    http_.set_serving(serving);
    draining_ = !serving;
    if (!draining_) return;
    for (const auto& connection : snapshot(http_connections_)) connection->announce_end();
  });
}

void EventLoop::shut_down() {
  boost::asio::post(io_, [this] {
    shutting_down_ = true;
    grpc_.end_streams();
    for (const auto& connection : snapshot(grpc_connections_)) connection->shut_down();
    for (const auto& connection : snapshot(http_connections_)) connection->shut_down();
  });
}

void EventLoop::close_all() {
  for (const auto& connection : snapshot(grpc_connections_)) connection->close();
  for (const auto& connection : snapshot(http_connections_)) connection->close();
}

void EventLoop::stop() {
  if (!thread_.joinable()) return;
  boost::asio::post(io_, [this] {
    close_all();
    work_.reset();
  });
  thread_.join();
}

void EventLoop::flush(transport::Http2Server& connection) {
  grpc_to_write_.insert(&connection);
  write_at_end_of_turn();
}

void EventLoop::flush(transport::Http1Server& connection) {
  http_to_write_.insert(&connection);
  write_at_end_of_turn();
}

void EventLoop::write_at_end_of_turn() {
  if (write_posted_) return;
  write_posted_ = true;
  boost::asio::post(io_, [this] {
    write_posted_ = false;
    write_all(grpc_connections_, std::exchange(grpc_to_write_, {}));
    write_all(http_connections_, std::exchange(http_to_write_, {}));
  });
}

}  // namespace penstock::server
