#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "penstock/base/error.h"
#include "penstock/server/clock.h"
#include "penstock/server/redis_wires.h"
#include "penstock/store/denied_store.h"
#include "penstock/store/redis/redis_store.h"

namespace penstock::server {

struct TlsSettings {
  std::string ca_file;           // empty: those of the system
  std::string certificate_file;  // with its key: for servers that ask who we are
  std::string key_file;
  std::string server_name;  // that the certificate must have; empty: the host's name
  bool check_server_name = true;
};

// A store that several nodes share, as it is configured.
struct SharedStoreSettings {
  std::string name;         // what `store` of rules calls it; empty: that of all limits that name none
  bool per_second = false;  // of limits per second instead
  std::string address;      // for people, without credentials
  store::redis::RedisOptions redis;
  std::string password_file;  // of which the first line is the password; read anew for each connection
  TlsSettings tls;
};

// Errors: a file that cannot be read or is no certificate, or no key of it.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> tls_context(const TlsSettings& settings);

// One loop's front of a shared store: the state machine, its sockets, its timer, and the node's cache of refusals.
// Threading: Loop-owned. Cost: looks after itself 50 times a second while idle, 200 times while there is no connection,
// 1,000 times while somebody waits.
class SharedStore {
 public:
  // The table is that of the node. Without one refusals are not kept.
  SharedStore(boost::asio::io_context& io, const WallOffset& clock, const SharedStoreSettings& settings,
              std::shared_ptr<boost::asio::ssl::context> tls, std::shared_ptr<store::DeniedTable> denied,
              const store::DeniedOptions& denied_options);

  [[nodiscard]] store::Store& store() noexcept { return front_ ? static_cast<store::Store&>(*front_) : redis_; }
  [[nodiscard]] const store::redis::RedisStore& redis() const noexcept { return redis_; }
  [[nodiscard]] const store::DeniedStore* denied() const noexcept { return front_.get(); }

  [[nodiscard]] const std::string& label() const noexcept { return label_; }

  // Whether it could be asked when it was last looked at. Thread-safe.
  [[nodiscard]] bool ready() const noexcept { return ready_.load(std::memory_order_relaxed); }

  void start();
  void stop();

 private:
  void wait(Nanoseconds span);
  void turn();
  void hasten();

  const std::string label_;  // in metrics: "common", "per_second", or the name
  const WallOffset& clock_;
  RedisWires wires_;
  store::redis::RedisStore redis_;
  std::unique_ptr<store::DeniedStore> front_;
  boost::asio::steady_timer timer_;
  std::atomic<bool> ready_{false};
  bool hurried_ = false;
  bool stopped_ = false;
};

}  // namespace penstock::server
