#pragma once

#include <cstddef>

namespace penstock::transport {

// What all connections of one loop may hold of requests and replies together, so that many small holders cannot do what
// one is kept from. Threading: Loop-owned. Ownership: outlives the connections that draw from it.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t most) noexcept : most_{most} {}

  [[nodiscard]] bool fits(std::size_t size) const noexcept { return used_ <= most_ && size <= most_ - used_; }
  [[nodiscard]] bool overdrawn() const noexcept { return used_ > most_; }
  void take(std::size_t size) noexcept { used_ += size; }  // even where it does not fit
  void give_back(std::size_t size) noexcept { used_ -= size; }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

 private:
  const std::size_t most_;
  std::size_t used_ = 0;
};

}  // namespace penstock::transport
