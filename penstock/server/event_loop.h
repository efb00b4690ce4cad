#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "penstock/limiter/limiter.h"
#include "penstock/protocol/grpc_endpoint.h"
#include "penstock/protocol/http_endpoint.h"
#include "penstock/protocol/outbox.h"
#include "penstock/protocol/reply_options.h"
#include "penstock/server/clock.h"
#include "penstock/server/connection.h"
#include "penstock/server/connection_table.h"
#include "penstock/server/shared_store.h"
#include "penstock/server/source.h"
#include "penstock/server/sweep.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/store/memory/table.h"
#include "penstock/store/tiered_store.h"
#include "penstock/transport/byte_budget.h"
#include "penstock/transport/http1_server.h"
#include "penstock/transport/http2_server.h"
#include "penstock/transport/patience.h"
#include "penstock/transport/transport_metrics.h"

namespace penstock::server {

// A shared store, with what all loops have of it together.
struct LoopStore {
  SharedStoreSettings settings;
  std::shared_ptr<boost::asio::ssl::context> tls;  // null: none
  std::shared_ptr<store::DeniedTable> denied;      // null: refusals are not kept
};

struct LoopSettings {
  limiter::LimiterOptions limiter;
  protocol::ReplyOptions replies;
  transport::Patience patience;
  std::vector<LoopStore> shared_stores;  // in the order of their numbers, from 1
  store::DeniedOptions denied;
  std::size_t max_held_bytes = 0;  // what the loop's connections may hold of requests and replies together
  std::function<void(const Source&)> on_closed;  // called on the loop's thread for each connection that was given
};

// One thread with everything it needs to answer: sockets, an endpoint for each port, a limiter, and its front end of
// the shared table. Nothing else is shared, so nothing waits for another loop.
//
// Threading: everything public is Thread-safe once `start` was called (it posts to the loop, or reads counters); the
// rest is Loop-owned.
class EventLoop final : private protocol::Outbox {
 public:
  EventLoop(std::shared_ptr<store::Table> table, const WallOffset& clock, const LoopSettings& settings,
            const std::shared_ptr<const rules::RuleSet>& rules);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void start();

  // Takes over a connected socket.
  void adopt_grpc(int descriptor, const Source& source);
  void adopt_http(int descriptor, const Source& source);

  // Health as callers see it.
  void set_serving(bool serving);
  // Asks all connections to end: GOAWAY, and a last answer on HTTP/1.1.
  void shut_down();
  // Closes what is left and ends the thread.
  void stop();

  [[nodiscard]] std::size_t open_grpc() const noexcept { return open_grpc_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t open_http() const noexcept { return open_http_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t connections() const noexcept { return open_grpc() + open_http(); }

  // What was counted.
  [[nodiscard]] const limiter::Statistics& statistics() const noexcept { return limiter_.statistics(); }
  [[nodiscard]] std::span<const std::unique_ptr<SharedStore>> shared_stores() const noexcept { return shared_; }
  [[nodiscard]] const store::TieredStore* tiered() const noexcept { return tiered_.get(); }
  [[nodiscard]] const store::MemoryStoreMetrics& store_metrics() const noexcept { return store_.metrics(); }
  [[nodiscard]] const transport::Http2Metrics& http2() const noexcept { return http2_metrics_; }
  [[nodiscard]] const transport::Http1Metrics& http1() const noexcept { return http1_metrics_; }
  [[nodiscard]] const protocol::EndpointMetrics& grpc() const noexcept { return grpc_.metrics(); }
  [[nodiscard]] const protocol::EndpointMetrics& http() const noexcept { return http_.metrics(); }
  // Connections that were closed since they held most while there was no room for others.
  [[nodiscard]] const metrics::Counter& cut_for_memory() const noexcept { return cut_for_memory_; }
  [[nodiscard]] const ConnectionMetrics& grpc_connections() const noexcept { return grpc_connections_.metrics(); }
  [[nodiscard]] const ConnectionMetrics& http_connections() const noexcept { return http_connections_.metrics(); }

 private:
  using GrpcConnections = ConnectionTable<transport::Http2Server, protocol::GrpcEndpoint>;
  using HttpConnections = ConnectionTable<transport::Http1Server, protocol::HttpEndpoint>;
  static constexpr std::size_t kReadBufferBytes = 64UL * 1024;

  // Output that appeared outside of a connection's own turn is written once, at the end of the loop's turn.
  void flush(transport::Http2Server& connection) override;
  void flush(transport::Http1Server& connection) override;
  void write_at_end_of_turn();
  void end_as_told(const auto& connection);
  void closed(std::atomic<std::size_t>& open, const Source& source);
  void make_room();

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  std::vector<char> read_buffer_;
  LoopServices services_;
  std::function<void(const Source&)> on_closed_;
  transport::ByteBudget held_;
  metrics::Counter cut_for_memory_;
  transport::Http2Metrics http2_metrics_;
  transport::Http1Metrics http1_metrics_;
  store::MemoryStore store_;
  std::vector<std::unique_ptr<SharedStore>> shared_;
  std::unique_ptr<store::TieredStore> tiered_;  // null without shared stores
  limiter::Limiter limiter_;
  protocol::GrpcEndpoint grpc_;
  protocol::HttpEndpoint http_;
  GrpcConnections grpc_connections_;
  HttpConnections http_connections_;
  Sweep sweep_;
  bool write_posted_ = false;
  bool draining_ = false;
  bool shutting_down_ = false;
  std::atomic<std::size_t> open_grpc_{0};  // given to the loop and not closed
  std::atomic<std::size_t> open_http_{0};
  std::jthread thread_;
};

}  // namespace penstock::server
