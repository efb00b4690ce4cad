#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <unistd.h>

#include "penstock/base/instant.h"
#include "penstock/metrics/counter.h"
#include "penstock/metrics/named.h"
#include "penstock/server/connection.h"
#include "penstock/server/socket_options.h"
#include "penstock/server/source.h"
#include "penstock/transport/patience.h"

namespace penstock::server {

struct ConnectionMetrics {
  metrics::Counter opened;
  metrics::Counter closed;
};

inline constexpr std::array<metrics::Named<ConnectionMetrics>, 2> kConnectionMetrics{{
    {"opened", &ConnectionMetrics::opened},
    {"closed", &ConnectionMetrics::closed},
}};
static_assert(sizeof(ConnectionMetrics) == kConnectionMetrics.size() * sizeof(metrics::Counter));

// The connections of one port on one loop. Threading: Loop-owned; the metrics may be read by any thread.
// Ownership: borrows the endpoint, and what the services and options point to, for its lifetime.
template <class Transport, class Endpoint>
class ConnectionTable {
 public:
  using One = Connection<Transport, Endpoint>;
  struct Setup {
    boost::asio::io_context& io;
    LoopServices services;
    Endpoint& endpoint;
    typename Transport::Options options;
    std::function<void(const Source&)> on_closed;  // also for a socket that could not be taken over
  };

  explicit ConnectionTable(Setup setup) : setup_{std::move(setup)} {}

  // Takes over a connected socket; null, and closed, when that fails.
  std::shared_ptr<One> adopt(int descriptor, const Source& source) {
    boost::asio::ip::tcp::socket socket{setup_.io};
    if (!take_over(descriptor, socket)) {
      ::close(descriptor);
      setup_.on_closed(source);
      return nullptr;
    }
    metrics_.opened.add();
    auto connection = std::make_shared<One>(std::move(socket), setup_.services, setup_.endpoint, setup_.options,
                                            [this, source](const Transport& closed) {
                                              open_.erase(&closed);
                                              metrics_.closed.add();
                                              setup_.on_closed(source);
                                            });
    open_.emplace(&connection->transport(), connection);
    connection->start();
    return connection;
  }

  // `call` may close connections; those it closes are still visited.
  template <class Call>
  void for_each(const Call& call) const {
    std::vector<std::shared_ptr<One>> all;
    all.reserve(open_.size());
    for (const auto& [transport, connection] : open_) all.push_back(connection);
    for (const auto& connection : all) call(*connection);
  }

  // Notes output that appeared outside of a connection's own turn; `write_noted` writes it, once.
  void note(const Transport& transport) { noted_.insert(&transport); }
  void write_noted() {
    for (const Transport* transport : std::exchange(noted_, {})) {
      const auto found = open_.find(transport);
      if (found == open_.end()) continue;
      const auto kept = found->second;
      kept->flush();
    }
  }

  void expire(Instant now, const transport::Patience& patience) const {
    for_each([&](One& connection) { connection.expire(now, patience); });
  }
  void close_all() const {
    for_each([](One& connection) { connection.close(); });
  }

  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
  [[nodiscard]] const ConnectionMetrics& metrics() const noexcept { return metrics_; }

 private:
  Setup setup_;
  std::unordered_map<const Transport*, std::shared_ptr<One>> open_;
  std::unordered_set<const Transport*> noted_;
  ConnectionMetrics metrics_;
};

}  // namespace penstock::server
