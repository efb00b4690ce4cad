#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "penstock/limiter/limiter.h"
#include "penstock/protocol/grpc_endpoint.h"
#include "penstock/protocol/http_endpoint.h"
#include "penstock/protocol/outbox.h"
#include "penstock/server/clock.h"
#include "penstock/server/connection.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/store/memory/table.h"
#include "penstock/transport/http1_server.h"
#include "penstock/transport/http2_server.h"

namespace penstock::server {

// One thread with everything it needs to answer: sockets, an endpoint for each port, a limiter, and its front end of
// the shared table. Nothing else is shared, so nothing waits for another loop.
//
// Threading: everything public is Thread-safe (it posts to the loop) once `start` was called; the rest is Loop-owned.
class EventLoop final : private protocol::Outbox {
 public:
  EventLoop(std::shared_ptr<store::Table> table, const WallOffset& clock, const limiter::LimiterOptions& options,
            std::shared_ptr<const rules::RuleSet> rules);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void start();

  // Takes over a connected socket.
  void adopt_grpc(int descriptor);
  void adopt_http(int descriptor);

  // Health as callers see it.
  void set_serving(bool serving);
  // Asks all connections to end: GOAWAY, and a last answer on HTTP/1.1.
  void shut_down();
  // Closes what is left and ends the thread.
  void stop();

  [[nodiscard]] std::size_t connections() const noexcept { return connections_.load(std::memory_order_relaxed); }

 private:
  using GrpcConnection = Connection<transport::Http2Server, protocol::GrpcEndpoint>;
  using HttpConnection = Connection<transport::Http1Server, protocol::HttpEndpoint>;
  static constexpr std::size_t kReadBufferBytes = 256UL * 1024;

  // Output that appeared outside of a connection's own turn is written once, at the end of the loop's turn.
  void flush(transport::Http2Server& connection) override;
  void flush(transport::Http1Server& connection) override;
  void write_at_end_of_turn();
  void close_all();

  template <class Transport, class Endpoint, class Options>
  void adopt(int descriptor, Endpoint& endpoint, const Options& options,
             std::unordered_map<const Transport*, std::shared_ptr<Connection<Transport, Endpoint>>>& table);

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  std::vector<char> read_buffer_;
  LoopServices services_;
  store::MemoryStore store_;
  limiter::Limiter limiter_;
  protocol::GrpcEndpoint grpc_;
  protocol::HttpEndpoint http_;
  std::unordered_map<const transport::Http2Server*, std::shared_ptr<GrpcConnection>> grpc_connections_;
  std::unordered_map<const transport::Http1Server*, std::shared_ptr<HttpConnection>> http_connections_;
  std::unordered_set<const transport::Http2Server*> grpc_to_write_;
  std::unordered_set<const transport::Http1Server*> http_to_write_;
  bool write_posted_ = false;
  bool draining_ = false;
  bool shutting_down_ = false;
  std::atomic<std::size_t> connections_{0};  // relaxed: a load figure, and a hint when waiting for the end
  std::jthread thread_;
};

}  // namespace penstock::server
