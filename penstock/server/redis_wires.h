#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "penstock/server/clock.h"
#include "penstock/store/redis/redis_store.h"
#include "penstock/store/redis/wires.h"

namespace penstock::server {

// The sockets of a RedisStore: TCP or Unix, with TLS or without. What the store has to send in one turn of the loop
// goes out in one write at its end. Threading: Loop-owned. Ownership: borrows the store; a connection lives until its
// last pending operation has come back.
class RedisWires final : public store::redis::Wires {
 public:
  // `server_name`: that a certificate must have; empty: the host's. `on_output`: something was sent, so somebody waits.
  RedisWires(boost::asio::io_context& io, const WallOffset& clock, std::shared_ptr<boost::asio::ssl::context> tls,
             std::string server_name, bool check_server_name, std::function<void()> on_output);
  ~RedisWires();
  RedisWires(const RedisWires&) = delete;
  RedisWires& operator=(const RedisWires&) = delete;

  void serve(store::redis::RedisStore& store) { store_ = &store; }
  void close_all();

  void open(std::uint32_t wire, const store::redis::Endpoint& endpoint) override;
  void close(std::uint32_t wire) override;
  void has_output(std::uint32_t wire) override;

 private:
  class Wire;
  friend class Wire;

  void flush();
  [[nodiscard]] Instant now() const { return clock_.at(read_monotonic()); }

  boost::asio::io_context& io_;
  const WallOffset& clock_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  const std::string server_name_;
  const bool check_server_name_;
  std::function<void()> on_output_;
  store::redis::RedisStore* store_ = nullptr;
  std::unordered_map<std::uint32_t, std::shared_ptr<Wire>> wires_;  // as many as the store has sessions
  bool flush_posted_ = false;
};

}  // namespace penstock::server
