#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/protocol/reply_options.h"
#include "penstock/rules/rule_set.h"
#include "penstock/server/address.h"
#include "penstock/server/shared_store.h"
#include "penstock/transport/patience.h"

namespace penstock::server {

struct ServerSettings {
  Address grpc{"0.0.0.0", 8081};
  Address http{"0.0.0.0", 8080};
  unsigned threads = 0;                                       // event loops; 0: one a core
  std::uint64_t table_keys = 1'000'000;                       // counters that the embedded store can hold
  std::optional<std::uint64_t> table_bytes = std::nullopt;    // in place of that: the memory that it may take
  std::optional<Address> debug = Address{"127.0.0.1", 6070};  // nothing: no debug port
  std::size_t max_connections = 10'000;         // both ports together, three quarters of them on one; others are closed
  std::size_t max_connections_per_address = 0;  // of these from one address; 0: half of them
  // What all connections together may hold of requests and replies; each loop has its part.
  std::size_t max_held_bytes = std::size_t{512} * 1024 * 1024;
  transport::Patience patience;             // with peers
  std::chrono::milliseconds drain{5'000};   // after SIGTERM: health fails, requests are still taken
  std::chrono::milliseconds grace{10'000};  // then: connections are asked to end, and closed after this
  float near_limit_ratio = 0.8F;    // share of a limit from which on hits count as near it, in statistics; at least 0
  bool allow_negative_hits = true;  // callers may give hits back
  bool shadow_mode = false;         // these three: see LimiterOptions
  bool quota_mode = false;
  bool spare_others = false;
  protocol::ReplyOptions replies;
  std::vector<SharedStoreSettings> shared_stores;                         // none: this process keeps all counters
  rules::OnStoreFailure on_store_failure = rules::OnStoreFailure::error;  // of limits that say nothing
  std::uint32_t fleet_size = 1;  // nodes, each of which counts its share where a shared store fails
  // Of the cache of refusals of shared stores; 0: none. LOCAL_CACHE_SIZE_IN_BYTES adds its own and keeps the original's
  // windows too.
  std::size_t denied_bytes = std::size_t{4} * 1024 * 1024;
  store::DeniedOptions denied;
};

// The whole service: two ports and one for operators, the event loops, the table, and an orderly end.
//
// The limit of file descriptors is raised as far as it may be; where it leaves no room for `max_connections`, fewer are
// taken and a warning says how many. A debug port that cannot be opened is a warning too.
//
// On SIGTERM, SIGINT or SIGHUP: health turns to failing at once; for `drain` everything is served as before, so that
// callers have time to leave; then the ports close, every connection gets its GOAWAY, and when all answers are out, or
// after `grace`, `run` returns. A second signal skips what is left of the waiting.
class Server {
 public:
  // Takes the table's memory and opens the ports. Without rules every request is answered with an error. Errors:
  // unavailable, naming the address; resource_exhausted or invalid_argument for the table's size.
  [[nodiscard]] static Result<std::unique_ptr<Server>> open(const ServerSettings& settings,
                                                            const std::shared_ptr<const rules::RuleSet>& rules);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The addresses as bound.
  [[nodiscard]] Address grpc_address() const;
  [[nodiscard]] Address http_address() const;
  [[nodiscard]] std::optional<Address> debug_address() const;  // nothing where there is none

  // Serves until a signal, or `stop`. Returns whether every connection ended by itself in time.
  bool run();

  // As SIGTERM would. Threading: Thread-safe.
  void stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::server
