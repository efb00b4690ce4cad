#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::metrics {

// A number that one loop counts up and any thread may read. No lock prefix: only the owner writes, so a plain add on a
// relaxed cell loses nothing; readers may see it a moment late, and sum the cells of all loops.
// Threading: `add` is Loop-owned, `value` Thread-safe. Cost: one add in the owner's cache.
class Counter {
 public:
  void add(std::uint64_t count = 1) noexcept {
    cell_.store(cell_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return cell_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> cell_{0};
};

}  // namespace penstock::metrics
