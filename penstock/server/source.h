#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <boost/asio/ip/address.hpp>

namespace penstock::server {

// Whom a connection counts for: an IPv4 address, mapped ones included, or the first 64 bits of an IPv6 address, since
// one machine has all the rest of them. Threading: Value.
struct Source {
  std::uint64_t network = 0;
  bool v6 = false;

  friend bool operator==(const Source&, const Source&) = default;
};

[[nodiscard]] Source source_of(const boost::asio::ip::address& address) noexcept;

// Counts connections by source and says when one has enough. Threading: Externally synchronised.
class SourceLimit {
 public:
  explicit SourceLimit(std::size_t most) : most_{most} {}

  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  // Counts the connection, or is false when its source has `most` already.
  [[nodiscard]] bool enter(const Source& source);
  // Requires: `enter` was true for it.
  void leave(const Source& source);

 private:
  struct Hash {
    [[nodiscard]] std::size_t operator()(const Source& source) const noexcept;
  };

  const std::size_t most_;
  std::unordered_map<Source, std::size_t, Hash> open_;  // no more entries than connections
};

}  // namespace penstock::server
