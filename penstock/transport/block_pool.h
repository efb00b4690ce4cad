#pragma once

#include <array>
#include <cstddef>

#include <nghttp2/nghttp2.h>

namespace penstock::transport {

// The allocator of one nghttp2 session: blocks of up to 1 KiB come back through free lists by size, since nghttp2 makes
// and drops the same few objects (stream, outgoing frame, header list) for every request. Larger ones go to the heap.
//
// Threading: Loop-owned. Ownership: must outlive the session; blocks kept for reuse are at most kMaxKeptBytes.
class BlockPool {
 public:
  BlockPool() noexcept;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // As malloc, realloc and free: null when memory is exhausted.
  [[nodiscard]] void* allocate(std::size_t size) noexcept;
  [[nodiscard]] void* resize(void* memory, std::size_t size) noexcept;
  void release(void* memory) noexcept;

  // Gives back all that is kept.
  void trim() noexcept;

  // Calls this pool; valid as long as it.
  [[nodiscard]] nghttp2_mem* hooks() noexcept { return &hooks_; }

  static constexpr std::size_t kMaxKeptBytes = std::size_t{1024} * 1024;

 private:
  struct Block;
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kLists = 16;

  std::array<Block*, kLists> free_{};
  std::size_t kept_bytes_ = 0;
  nghttp2_mem hooks_;
};

}  // namespace penstock::transport
