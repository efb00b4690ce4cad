#include "penstock/server/event_loop.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

namespace penstock::server {
namespace {

transport::Http2Options http2_options(transport::ByteBudget& held, transport::Http2Metrics& metrics) {
  transport::Http2Options options;
  options.streaming_paths = protocol::GrpcEndpoint::streaming_paths();
  options.held = &held;
  options.metrics = &metrics;
  return options;
}

std::vector<std::unique_ptr<SharedStore>> shared_stores_of(boost::asio::io_context& io, const WallOffset& clock,
                                                           const LoopSettings& settings) {
  std::vector<std::unique_ptr<SharedStore>> stores;
  stores.reserve(settings.shared_stores.size());
  for (const LoopStore& store : settings.shared_stores) {
    stores.push_back(
        std::make_unique<SharedStore>(io, clock, store.settings, store.tls, store.denied, settings.denied));
  }
  return stores;
}

std::unique_ptr<store::TieredStore> tiered_store_of(store::Store& node,
                                                    std::span<const std::unique_ptr<SharedStore>> shared) {
  if (shared.empty()) return nullptr;
  std::vector<store::Store*> stores;
  stores.reserve(shared.size());
  for (const auto& each : shared) stores.push_back(&each->store());
  return std::make_unique<store::TieredStore>(node, stores);
}

}  // namespace

EventLoop::EventLoop(std::shared_ptr<store::Table> table, const WallOffset& clock, const LoopSettings& settings,
                     const std::shared_ptr<const rules::RuleSet>& rules)
    : read_buffer_(kReadBufferBytes),
      services_{.clock = clock, .read_buffer = read_buffer_},
      on_closed_{settings.on_closed},
      held_{settings.max_held_bytes},
      store_{std::move(table)},
      shared_{shared_stores_of(io_, clock, settings)},
      tiered_{tiered_store_of(store_, shared_)},
      limiter_{tiered_ ? static_cast<store::Store&>(*tiered_) : store_, settings.limiter},
      grpc_{limiter_, *this, settings.replies},
      http_{limiter_, *this, settings.replies},
      grpc_connections_{{.io = io_,
                         .services = services_,
                         .endpoint = grpc_,
                         .options = http2_options(held_, http2_metrics_),
                         .on_closed = [this](const Source& source) { closed(open_grpc_, source); }}},
      http_connections_{{.io = io_,
                         .services = services_,
                         .endpoint = http_,
                         .options = {.held = &held_, .metrics = &http1_metrics_},
                         .on_closed = [this](const Source& source) { closed(open_http_, source); }}},
      sweep_{io_, settings.patience, [this, patience = settings.patience](Instant now) {
               grpc_connections_.expire(now, patience);
               http_connections_.expire(now, patience);
               make_room();
             }} {
  // Asio makes a loop's epoll, event and timer descriptors with its first socket; now they are there, later they may
  // not be to be had.
  const boost::asio::ip::tcp::socket first{io_};
  limiter_.use_rules(rules);
  grpc_.set_serving(true);
  http_.set_serving(true);
}

EventLoop::~EventLoop() { stop(); }

void EventLoop::start() {
  sweep_.start();
  for (const auto& store : shared_) store->start();
  thread_ = std::jthread{[this] { io_.run(); }};
}

void EventLoop::closed(std::atomic<std::size_t>& open, const Source& source) {
  open.fetch_sub(1, std::memory_order_relaxed);
  if (on_closed_) on_closed_(source);
}

// Where the budget was spent, those who hold most of it go, until half of it is free: everybody else gets
// ByteAccount::kAlways until then, and all of it from then on.
void EventLoop::make_room() {
  if (!held_.take_refused() && !held_.overdrawn()) return;
  struct Holder {
    std::size_t bytes;
    std::function<void()> cut;
  };
  std::vector<Holder> holders;
  const auto list = [&](auto& connection) {
    const std::size_t bytes = connection.transport().held_bytes();
    if (bytes <= transport::ByteAccount::kAlways) return;
    holders.push_back({.bytes = bytes, .cut = [one = connection.shared_from_this()] { one->close(); }});
  };
  grpc_connections_.for_each(list);
  http_connections_.for_each(list);
  std::ranges::sort(holders, std::greater{}, &Holder::bytes);
  for (const Holder& holder : holders) {
    if (held_.used() <= held_.most() / 2) break;
    holder.cut();
    cut_for_memory_.add();
  }
}

void EventLoop::end_as_told(const auto& connection) {
  if (connection == nullptr) return;
  if (draining_) connection->announce_end();
  if (shutting_down_) connection->shut_down();
}

void EventLoop::adopt_grpc(int descriptor, const Source& source) {
  open_grpc_.fetch_add(1, std::memory_order_relaxed);
  boost::asio::post(io_, [this, descriptor, source] { end_as_told(grpc_connections_.adopt(descriptor, source)); });
}

void EventLoop::adopt_http(int descriptor, const Source& source) {
  open_http_.fetch_add(1, std::memory_order_relaxed);
  boost::asio::post(io_, [this, descriptor, source] { end_as_told(http_connections_.adopt(descriptor, source)); });
}

void EventLoop::set_serving(bool serving) {
  boost::asio::post(io_, [this, serving] {
    grpc_.set_serving(serving);
    http_.set_serving(serving);
    draining_ = !serving;
    if (!draining_) return;
    http_connections_.for_each([](auto& connection) { connection.announce_end(); });
  });
}

void EventLoop::shut_down() {
  boost::asio::post(io_, [this] {
    shutting_down_ = true;
    grpc_.end_streams();
    grpc_connections_.for_each([](auto& connection) { connection.shut_down(); });
    http_connections_.for_each([](auto& connection) { connection.shut_down(); });
  });
}

void EventLoop::stop() {
  if (!thread_.joinable()) return;
  boost::asio::post(io_, [this] {
    sweep_.stop();
    for (const auto& store : shared_) store->stop();
    grpc_connections_.close_all();
    http_connections_.close_all();
    work_.reset();
  });
  thread_.join();
}

void EventLoop::flush(transport::Http2Server& connection) {
  grpc_connections_.note(connection);
  write_at_end_of_turn();
}

void EventLoop::flush(transport::Http1Server& connection) {
  http_connections_.note(connection);
  write_at_end_of_turn();
}

void EventLoop::write_at_end_of_turn() {
  if (write_posted_) return;
  write_posted_ = true;
  boost::asio::post(io_, [this] {
    write_posted_ = false;
    grpc_connections_.write_noted();
    http_connections_.write_noted();
  });
}

}  // namespace penstock::server
