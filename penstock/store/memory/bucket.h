#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

#include "penstock/base/hash.h"
#include "penstock/store/record.h"

namespace penstock::store {

// The layout of the embedded table; nothing else knows it. A bucket is two cache lines: a lock word and five slots. An
// all-zero bucket is unlocked and empty, so that fresh pages are a fresh table.

struct Slot {
  std::uint64_t tag;  // of the counter; meaningless in an empty slot
  Record record;
};

struct alignas(64) Bucket {
  static constexpr std::size_t kSlots = 5;

  std::uint32_t lock_word;
  std::uint32_t unused;
  Slot slots[kSlots];
};

static_assert(sizeof(Slot) == 24 && sizeof(Bucket) == 128 && std::is_trivially_copyable_v<Bucket>);

// Where a counter may live: two buckets out of `bucket_count` by the halves of the hash's low word, the lesser first;
// they may be the same. The tag is the high word, so that slots of one bucket are told apart by 64 further bits.
struct Address {
  std::uint32_t first;
  std::uint32_t second;
  std::uint64_t tag;
};

[[nodiscard]] inline Address address_of(const Hash128& counter, std::uint32_t bucket_count) noexcept {
  const auto a = static_cast<std::uint32_t>(((counter.low & 0xffff'ffff) * bucket_count) >> 32);
  const auto b = static_cast<std::uint32_t>(((counter.low >> 32) * bucket_count) >> 32);
  return {.first = a < b ? a : b, .second = a < b ? b : a, .tag = counter.high};
}

[[nodiscard]] inline Slot* find(Bucket& bucket, std::uint64_t tag) noexcept {
  for (Slot& slot : bucket.slots) {
    if (slot.tag == tag && !slot.record.empty()) return &slot;
  }
  return nullptr;
}

inline void prefetch(const Bucket& bucket) noexcept {
  const char* line = reinterpret_cast<const char*>(&bucket);
  __builtin_prefetch(line, 1);
  __builtin_prefetch(line + 64, 1);
}

inline void pause_processor() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until this thread holds the bucket: a bounded spin, then the processor is given up each round, as the holder
// may have lost its own. Whoever locks several does so in ascending order of address. Returns whether it had to wait.
// Acquire, so that the slots are read as the last holder left them.
inline bool lock(Bucket& bucket) noexcept {
  constexpr int kSpins = 64;
  const std::atomic_ref<std::uint32_t> word{bucket.lock_word};
  if (word.exchange(1, std::memory_order_acquire) == 0) return false;
  while (true) {
    for (int spin = 0; spin < kSpins && word.load(std::memory_order_relaxed) != 0; ++spin) pause_processor();
    if (word.exchange(1, std::memory_order_acquire) == 0) return true;
    std::this_thread::yield();
  }
}

// Release, so that the next holder sees the slots as they are now.
inline void unlock(Bucket& bucket) noexcept {
  std::atomic_ref<std::uint32_t>{bucket.lock_word}.store(0, std::memory_order_release);
}

}  // namespace penstock::store
