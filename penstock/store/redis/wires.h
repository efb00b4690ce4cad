#pragma once

#include <cstdint>
#include <string>

namespace penstock::store::redis {

// Where a server listens.
struct Endpoint {
  std::string host;  // a name, an address, or with port 0 the path of a Unix socket
  std::uint16_t port = 6379;
  bool tls = false;

  [[nodiscard]] bool is_unix() const noexcept { return port == 0; }

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "host:port", "[address]:port", or the path.
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

// The connections of a store, by number. Whoever implements it owns sockets and reports what happens to the store
// (RedisStore::opened, received, closed); tests do so by hand. Threading: Loop-owned, like the store.
class Wires {
 public:
  // Begins to connect. Ends in `opened` or `closed`, never from within this call.
  virtual void open(std::uint32_t wire, const Endpoint& endpoint) = 0;
  // Ends the connection, or the attempt; nothing more is reported of it.
  virtual void close(std::uint32_t wire) = 0;
  // There are bytes to be sent; called again and again. To be taken in one write at the end of the loop's turn.
  virtual void has_output(std::uint32_t wire) = 0;

 protected:
  ~Wires() = default;
};

}  // namespace penstock::store::redis
