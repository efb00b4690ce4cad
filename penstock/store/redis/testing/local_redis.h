#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "penstock/base/instant.h"
#include "penstock/store/redis/redis_store.h"

namespace penstock::store::redis::testing {

// A redis-server of its own, on a Unix socket in a folder of its own; ended and removed with the object.
// Threading: Value.
class LocalRedis {
 public:
  explicit LocalRedis(const std::vector<std::string>& settings = {});
  ~LocalRedis();
  LocalRedis(const LocalRedis&) = delete;
  LocalRedis& operator=(const LocalRedis&) = delete;

  [[nodiscard]] Endpoint endpoint() const { return {.host = folder_ + "/socket", .port = 0}; }
  // Runs one command on a connection of its own. Errors and what is no text come back as text.
  std::string run(const std::vector<std::string>& command) const;

 private:
  std::string folder_;
  pid_t process_ = -1;
};

// A blocking connection to a Unix socket. -1: none.
[[nodiscard]] int connect_to(const Endpoint& endpoint);

// The sockets of one RedisStore, moved along by hand: nothing happens but in `turn`.
class BlockingWires final : public Wires {
 public:
  void serve(RedisStore& store) { store_ = &store; }
  ~BlockingWires();

  void open(std::uint32_t wire, const Endpoint& endpoint) override;
  void close(std::uint32_t wire) override;
  void has_output(std::uint32_t) override {}

  // Connects what is to be connected, sends what is to be sent, and takes what came, waiting for it a little.
  void turn(Instant now);

 private:
  struct Wire {
    std::uint32_t number = 0;
    Endpoint endpoint;
    int socket = -1;
    bool to_open = false;
  };
  Wire* find(std::uint32_t number);

  RedisStore* store_ = nullptr;
  std::vector<Wire> wires_;
};

}  // namespace penstock::store::redis::testing
