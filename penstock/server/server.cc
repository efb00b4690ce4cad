#include "penstock/server/server.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "penstock/protocol/debug_endpoint.h"
#include "penstock/protocol/debug_pages.h"
#include "penstock/server/admission.h"
#include "penstock/server/clock.h"
#include "penstock/server/debug_port.h"
#include "penstock/server/descriptor_limit.h"
#include "penstock/server/event_loop.h"
#include "penstock/server/heap.h"
#include "penstock/server/listener.h"
#include "penstock/server/stats_page.h"
#include "penstock/server/store_probe.h"

namespace penstock::server {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kClockInterval{1'000};
constexpr std::uint64_t kLooksPerMinute = 60;
constexpr std::chrono::milliseconds kEndPoll{10};
constexpr std::chrono::milliseconds kStoreWait{500};

HashKey random_key() {
  std::random_device device;
  const auto word = [&device] { return std::uint64_t{device()} << 32 | device(); };
  return {.k0 = word(), .k1 = word()};
}

unsigned loop_count(unsigned wanted) { return wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency()); }

// As many as are wanted and as the process's file descriptors allow.
std::size_t most_connections(const ServerSettings& settings) {
  const std::uint64_t descriptors = raise_descriptor_limit();
  const std::size_t possible = connections_within(descriptors, loop_count(settings.threads));
  if (settings.max_connections <= possible) return settings.max_connections;
  spdlog::warn(
      "{} connections (--max-connections) do not fit into {} file descriptors, the hard limit (ulimit -Hn): at most {} "
      "are taken",
      settings.max_connections, descriptors, possible);
  return possible;
}

limiter::PlacementOptions placement_of(const ServerSettings& settings) {
  limiter::PlacementOptions options = {.on_store_failure = settings.on_store_failure,
                                       .fleet_size = settings.fleet_size};
  limiter::StoreNumbers& stores = options.stores;
  for (std::size_t i = 0; i < settings.shared_stores.size(); ++i) {
    const SharedStoreSettings& store = settings.shared_stores[i];
    const auto number = static_cast<std::uint8_t>(i + 1);
    if (store.per_second) {
      stores.per_second = number;
    } else if (store.name.empty()) {
      stores.common = number;
    } else {
      stores.named.emplace_back(store.name, number);
    }
  }
  if (stores.per_second == 0) stores.per_second = stores.common;
  return options;
}

Result<std::vector<LoopStore>> loop_stores(const ServerSettings& settings) {
  std::vector<LoopStore> stores;
  stores.reserve(settings.shared_stores.size());
  for (const SharedStoreSettings& store : settings.shared_stores) {
    LoopStore& added = stores.emplace_back(LoopStore{.settings = store, .tls = nullptr, .denied = nullptr});
    const bool tls_wanted = std::ranges::any_of(store.redis.endpoints, &store::redis::Endpoint::tls);
    if (tls_wanted) {
      auto tls = tls_context(store.tls);
      if (!tls) return std::unexpected{tls.error()};
      added.tls = std::move(*tls);
    }
    if (settings.denied_bytes > 0) added.denied = std::make_shared<store::DeniedTable>(settings.denied_bytes);
  }
  return stores;
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerSettings& settings, const std::shared_ptr<store::Table>& table, const std::vector<LoopStore>& shared,
       const std::shared_ptr<const rules::RuleSet>& rules)
      : settings_{settings},
        table_{table},
        rules_{rules ? rules : std::make_shared<const rules::RuleSet>()},
        admission_{{.connections = most_connections(settings),
                    .connections_per_source = settings.max_connections_per_address}},
        grpc_listener_{io_,
                       [this](int descriptor, const Source& from) {
                         place(descriptor, from, &EventLoop::open_grpc, &EventLoop::adopt_grpc);
                       }},
        http_listener_{io_, [this](int descriptor, const Source& from) {
                         place(descriptor, from, &EventLoop::open_http, &EventLoop::adopt_http);
                       }} {
    const LoopSettings loop = {
        .limiter = {.counter_key = random_key(),
                    .near_limit_ratio = settings.near_limit_ratio,
                    .allow_negative_hits = settings.allow_negative_hits,
                    .shadow_mode = settings.shadow_mode,
                    .quota_mode = settings.quota_mode,
                    .spare_others = settings.spare_others,
                    .placement = placement_of(settings)},
        .replies = settings.replies,
        .patience = settings.patience,
        .shared_stores = shared,
        .denied = settings.denied,
        .max_held_bytes = settings.max_held_bytes / loop_count(settings.threads),
        .on_closed = [this](const Source& source) { asio::post(io_, [this, source] { admission_.leave(source); }); }};
    for (unsigned i = 0; i < loop_count(settings.threads); ++i) {
      loops_.push_back(std::make_unique<EventLoop>(table, clock_, loop, rules));
    }
  }

  // The stores were there a moment ago, so connections to them are worth waiting for.
  void wait_for_stores() { stores_there_ = true; }

  Result<void> listen() {
    if (auto opened = grpc_listener_.open(settings_.grpc); !opened) return opened;
    if (auto opened = http_listener_.open(settings_.http); !opened) return opened;
    if (settings_.debug) open_debug_port(*settings_.debug);
    return {};
  }

  bool run() {
    ::signal(SIGPIPE, SIG_IGN);
    warn_of_an_implausible_clock();
    watch_signals();
    watch_clock();
    for (const auto& loop : loops_) loop->start();
    if (stores_there_) await_stores();
    io_.run();
    for (const auto& loop : loops_) loop->stop();
    if (debug_) debug_->close();
    return ended_in_time_;
  }

  void stop() {
    asio::post(io_, [this] { begin_end("asked to stop"); });
  }

  [[nodiscard]] Address grpc_address() const { return grpc_listener_.bound(); }
  [[nodiscard]] Address http_address() const { return http_listener_.bound(); }
  [[nodiscard]] std::optional<Address> debug_address() const {
    return debug_ ? std::optional{debug_->bound()} : std::nullopt;
  }

 private:
  enum class Phase : std::uint8_t { serving, draining, ending, done };

  using OpenOnPort = std::size_t (EventLoop::*)() const noexcept;

  [[nodiscard]] std::size_t connections(OpenOnPort open = &EventLoop::connections) const {
    std::size_t sum = 0;
    for (const auto& loop : loops_) sum += ((*loop).*open)();
    return sum;
  }

  // Connections are few and live long, so each goes to the loop that has the fewest.
  void place(int descriptor, const Source& from, OpenOnPort open, void (EventLoop::*adopt)(int, const Source&)) {
    if (!admission_.enter(from, {.all = connections(), .on_port = connections(open)}, clock_.at(read_monotonic()))) {
      ::close(descriptor);
      return;
    }
    const auto& loop = *std::ranges::min_element(loops_, {}, [](const auto& each) { return each->connections(); });
    ((*loop).*adopt)(descriptor, from);
  }

  void open_debug_port(const Address& address) {
    using Reply = protocol::DebugEndpoint::Reply;
    std::vector<protocol::DebugEndpoint::Page> pages{
        {"/rlconfig", "the limits as loaded, one a line",
         [this] { return Reply{.body = protocol::list_limits(*rules_)}; }},
        {"/stats", "all counters, one a line", [this] { return Reply{.body = statistics()}; }},
        {"/healthz", "200 while requests are served, 503 once that ends", [this] { return health(); }}};
    auto port = std::make_unique<DebugPort>(io_, clock_, settings_.patience, std::move(pages));
    if (auto opened = port->open(address); !opened) {
      spdlog::warn("no debug port: {} (--debug ADDR names another one, --debug '' none)", opened.error().message);
      return;
    }
    if (!is_loopback(address)) {
      spdlog::warn("the debug port {} is open beyond this machine: whoever reaches it reads rules and statistics",
                   to_string(port->bound()));
    }
    debug_ = std::move(port);
  }

  [[nodiscard]] std::string statistics() const {
    const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(read_monotonic() - began_);
    return stats_page({.loops = loops_,
                       .rules = *rules_,
                       .table = *table_,
                       .now = clock_.at(read_monotonic()),
                       .admission = admission_,
                       .clock = clock_,
                       .accept_failures = grpc_listener_.failures() + http_listener_.failures(),
                       .uptime = uptime,
                       .debug_accept_failures = debug_ ? debug_->accept_failures() : 0,
                       .debug_connections_refused = debug_ ? debug_->refused() : 0});
  }

  [[nodiscard]] protocol::DebugEndpoint::Reply health() const {
    if (phase_ == Phase::serving) return {.status = 200, .body = "ok"};
    return {.status = 503, .body = "draining"};
  }

  // Who connects meanwhile waits for its turn: an answer without a store would be a worse welcome. Not for long, since
  // a store may go.
  void await_stores() {
    const auto end = std::chrono::steady_clock::now() + kStoreWait;
    const auto ready = [](const auto& loop) {
      return std::ranges::all_of(loop->shared_stores(), [](const auto& store) { return store->ready(); });
    };
    while (!std::ranges::all_of(loops_, ready) && std::chrono::steady_clock::now() < end) {
      phase_timer_.expires_after(kEndPoll);
      phase_timer_.wait();
    }
  }

  void watch_signals() {
    signals_.async_wait([this](boost::system::error_code error, int signal) {
      if (error) return;
      begin_end(signal == SIGINT ? "SIGINT" : signal == SIGHUP ? "SIGHUP" : "SIGTERM");
      watch_signals();
    });
  }

  // Limits count from 2025, and those of the highest rates for thirty years.
  void warn_of_an_implausible_clock() {
    const Instant now = clock_.at(read_monotonic());
    constexpr Instant kLast = kStateEpoch + std::chrono::hours{24 * 365 * 29};
    if (now >= kStateEpoch && now <= kLast) return;
    spdlog::warn(
        "the wall clock says {} s since 1970, which is not between 2025 and 2054: no limit works as stated until "
        "it is set",
        std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  }

  void warn_of_cut_connections() {
    std::uint64_t cut = 0;
    for (const auto& loop : loops_) cut += loop->cut_for_memory().value();
    if (cut == cut_reported_) return;
    spdlog::warn("{} connections were closed to make room: they held most of the {} bytes that all may hold together",
                 cut - cut_reported_, settings_.max_held_bytes);
    cut_reported_ = cut;
  }

  void watch_clock() {
    clock_timer_.expires_after(kClockInterval);
    clock_timer_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      const Nanoseconds step = clock_.observe(read_monotonic(), read_wall());
      if (step != Nanoseconds::zero()) {
        spdlog::warn("the wall clock was set: {} by {} ms, followed at once",
                     step > Nanoseconds::zero() ? "forward" : "back",
                     std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::abs(step)).count());
      }
      warn_of_cut_connections();
      if (++clock_looks_ % kLooksPerMinute == 0) return_freed_memory();
      watch_clock();
    });
  }

  // Each further signal skips the phase at hand.
  void begin_end(const char* reason) {
    switch (phase_) {
      case Phase::serving: return drain(reason);
      case Phase::draining: return end();
      case Phase::ending: ended_in_time_ = connections() == 0; return finish();
      case Phase::done: return;
    }
  }

  static double seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

  [[nodiscard]] std::string open_connections() const {
    const std::size_t count = connections();
    return fmt::format("{} connection{}", count, count == 1 ? "" : "s");
  }

  void drain(const char* reason) {
    phase_ = Phase::draining;
    spdlog::info("{}: health fails from now on; serving for another {:g} s (--drain-seconds)", reason,
                 seconds(settings_.drain));
    for (const auto& loop : loops_) loop->set_serving(false);
    phase_timer_.expires_after(settings_.drain);
    phase_timer_.async_wait([this](boost::system::error_code error) {
      if (!error) end();
    });
  }

  void end() {
    phase_ = Phase::ending;
    grpc_listener_.close();
    http_listener_.close();
    spdlog::info("ports closed; {} get {:g} s to end (--grace-seconds)", open_connections(), seconds(settings_.grace));
    for (const auto& loop : loops_) loop->shut_down();
    grace_ends_ = std::chrono::steady_clock::now() + settings_.grace;
    await_connections();
  }

  void await_connections() {
    const bool late = std::chrono::steady_clock::now() >= grace_ends_;
    if (connections() == 0 || late) {
      ended_in_time_ = connections() == 0;
      if (!ended_in_time_) spdlog::warn("closing {}: out of time", open_connections());
      finish();
      return;
    }
    phase_timer_.expires_after(kEndPoll);
    phase_timer_.async_wait([this](boost::system::error_code error) {
      if (!error) await_connections();
    });
  }

  void finish() {
    phase_ = Phase::done;
    phase_timer_.cancel();
    clock_timer_.cancel();
    signals_.cancel();
    io_.stop();
  }

  const ServerSettings settings_;
  WallOffset clock_{read_monotonic(), read_wall()};
  const Nanoseconds began_ = read_monotonic();
  const std::shared_ptr<store::Table> table_;
  const std::shared_ptr<const rules::RuleSet> rules_;
  Admission admission_;
  std::uint64_t clock_looks_ = 0;
  std::uint64_t cut_reported_ = 0;
  asio::io_context io_{1};
  std::vector<std::unique_ptr<EventLoop>> loops_;
  Listener grpc_listener_;
  Listener http_listener_;
  asio::signal_set signals_{io_, SIGTERM, SIGINT, SIGHUP};
  asio::steady_timer clock_timer_{io_};
  asio::steady_timer phase_timer_{io_};
  std::chrono::steady_clock::time_point grace_ends_;
  std::unique_ptr<DebugPort> debug_;
  Phase phase_ = Phase::serving;
  bool ended_in_time_ = true;
  bool stores_there_ = false;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(const ServerSettings& settings,
                                             const std::shared_ptr<const rules::RuleSet>& rules) {
  auto table = store::Table::create({.capacity_keys = settings.table_keys, .capacity_bytes = settings.table_bytes});
  if (!table) return std::unexpected{table.error()};
  bool stores_there = false;
  if (rules) {
    const auto probed = probe_stores(settings, *rules);
    if (!probed) return std::unexpected{probed.error()};
    stores_there = *probed;
  }
  const auto shared = loop_stores(settings);
  if (!shared) return std::unexpected{shared.error()};
  spdlog::info("the table has room for {} counters, in {} bytes of {} pages", (*table)->capacity_keys(),
               (*table)->memory_bytes(), (*table)->page_size() == store::PageSize::huge ? "huge" : "ordinary");
  try {
    auto impl = std::make_unique<Impl>(settings, std::move(*table), *shared, rules);
    if (stores_there) impl->wait_for_stores();
    if (auto listening = impl->listen(); !listening) return std::unexpected{listening.error()};
    return std::unique_ptr<Server>{new Server{std::move(impl)}};
  } catch (const boost::system::system_error& error) {
    return fail(ErrorCode::resource_exhausted,
                fmt::format("the event loops cannot be made: {} (each takes three file descriptors; see ulimit -n, "
                            "--threads)",
                            error.code().message()));
  }
}

Address Server::grpc_address() const { return impl_->grpc_address(); }
Address Server::http_address() const { return impl_->http_address(); }
std::optional<Address> Server::debug_address() const { return impl_->debug_address(); }
bool Server::run() { return impl_->run(); }
void Server::stop() { impl_->stop(); }

}  // namespace penstock::server
