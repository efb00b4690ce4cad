#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "penstock/base/hash.h"
#include "penstock/store/memory/sync.h"

#if defined(__has_feature)
#define PENSTOCK_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define PENSTOCK_THREAD_SANITIZER 0
#endif

namespace penstock::store {

// The layout of the embedded table. A bucket is two cache lines with seven slots; all that finding a counter takes is
// in the first. A state of two words takes two slots of one bucket with the same tag: the word in the lower one, and
// the second word in the other, whose note is 0. An all-zero bucket is unlocked and empty, so that fresh pages are a
// fresh table.
struct alignas(128) Bucket {
  static constexpr std::uint32_t kSlots = 7;

  std::uint32_t tag_low[kSlots];  // a tag of zero: nothing here
  std::uint16_t tag_high[kSlots];
  std::uint16_t head;           // bit 0 the lock, above it the stamp (note.h)
  std::uint32_t notes[kSlots];  // see note.h
  std::uint64_t words[kSlots];
};

static_assert(sizeof(Bucket) == 128 && offsetof(Bucket, tag_high) == 28 && offsetof(Bucket, head) == 42 &&
              offsetof(Bucket, notes) == 44 && offsetof(Bucket, words) == 72 && std::is_trivially_copyable_v<Bucket>);

// What tells the counters of one bucket apart: 48 bits of the hash that have no part in the choice of the bucket.
struct Tag {
  std::uint32_t low = 0;
  std::uint16_t high = 0;
};

// Where a counter may live: two buckets by the halves of the hash's low word, which may be the same. It lives in the
// first unless that was rather full when it came.
struct Address {
  std::uint32_t first;
  std::uint32_t second;
  Tag tag;
};

[[nodiscard]] inline Tag tag_of(const Hash128& counter) noexcept {
  const auto low = static_cast<std::uint32_t>(counter.high);
  const auto high = static_cast<std::uint16_t>(counter.high >> 32);
  return {.low = (low | high) == 0 ? 1 : low, .high = high};
}

[[nodiscard]] inline Address address_of(const Hash128& counter, std::uint32_t bucket_count) noexcept {
  return {.first = static_cast<std::uint32_t>(((counter.low & 0xffff'ffff) * bucket_count) >> 32),
          .second = static_cast<std::uint32_t>(((counter.low >> 32) * bucket_count) >> 32),
          .tag = tag_of(counter)};
}

[[nodiscard]] inline Tag tag_in(const Bucket& bucket, std::uint32_t slot) noexcept {
  return {.low = bucket.tag_low[slot], .high = bucket.tag_high[slot]};
}

// Slots of a bucket, a bit each.
using Slots = std::uint32_t;

inline constexpr Slots kAllSlots = (1u << Bucket::kSlots) - 1;

[[nodiscard]] inline std::uint32_t lowest(Slots slots) noexcept {
  return static_cast<std::uint32_t>(std::countr_zero(slots));
}
[[nodiscard]] inline Slots without_lowest(Slots slots) noexcept { return slots & (slots - 1); }
[[nodiscard]] inline std::uint32_t number_of(Slots slots) noexcept {
  return static_cast<std::uint32_t>(std::popcount(slots));
}

// The slots with that tag.
[[nodiscard]] inline Slots matching_one_by_one(const Bucket& bucket, Tag tag) noexcept {
  Slots slots = 0;
  for (std::uint32_t i = 0; i < Bucket::kSlots; ++i) {
    slots |= Slots{bucket.tag_low[i] == tag.low && bucket.tag_high[i] == tag.high} << i;
  }
  return slots;
}

#if defined(__SSE2__)
// The same, without a branch: all seven at once, lane i + 1 for slot i. Reads nothing that the lock does not guard.
[[nodiscard]] inline Slots matching(const Bucket& bucket, Tag tag) noexcept {
  const char* bytes = reinterpret_cast<const char*>(&bucket);
  const auto load = [bytes](std::size_t offset) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + offset));
  };
  const __m128i low = _mm_set1_epi32(static_cast<int>(tag.low));
  const __m128i high = _mm_set1_epi16(static_cast<short>(tag.high));
  const __m128i low_0_to_3 = _mm_cmpeq_epi32(load(0), low);
  const __m128i low_4_to_6 = _mm_cmpeq_epi32(load(16), low);  // the fourth lane is of tag_high, and shifted out
  const __m128i lows = _mm_slli_si128(_mm_packs_epi32(low_0_to_3, low_4_to_6), 2);
  const __m128i highs = _mm_cmpeq_epi16(load(offsetof(Bucket, tag_high) - 2), high);
  const __m128i both = _mm_packs_epi16(_mm_and_si128(lows, highs), _mm_setzero_si128());
  return static_cast<Slots>(_mm_movemask_epi8(both)) >> 1;
}
#else
[[nodiscard]] inline Slots matching(const Bucket& bucket, Tag tag) noexcept { return matching_one_by_one(bucket, tag); }
#endif

[[nodiscard]] inline Slots empty_slots(const Bucket& bucket) noexcept { return matching(bucket, Tag{}); }

// Whether the tag is there as far as can be seen without the lock: a guess, which nothing may rely on. It reads what
// others may be writing, which no processor minds; the thread sanitizer does, so under it nothing is guessed.
[[nodiscard]] inline bool glimpse(const Bucket& bucket, Tag tag) noexcept {
#if defined(__SANITIZE_THREAD__) || PENSTOCK_THREAD_SANITIZER
  static_cast<void>(bucket);
  return (tag.low & 1) != 0;
#else
  return matching(bucket, tag) != 0;
#endif
}

// Fetches a line for writing. Not by the compiler's builtin: gcc 12 takes a function that does nothing else for one
// without effect, and leaves out its calls.
inline void prefetch_line(const char* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*line));
#elif defined(__aarch64__)
  asm volatile("prfm pstl1keep, [%0]" : : "r"(line));
#else
  static_cast<void>(line);
#endif
}
inline void prefetch_tags(const Bucket& bucket) noexcept { prefetch_line(reinterpret_cast<const char*>(&bucket)); }
inline void prefetch(const Bucket& bucket) noexcept {
  prefetch_tags(bucket);
  prefetch_line(reinterpret_cast<const char*>(&bucket) + 64);
}

inline void pause_processor() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Acquire, so that the slots are read as the last holder left them.
[[nodiscard]] inline bool try_lock(Bucket& bucket) noexcept {
  return (std::atomic_ref<std::uint16_t>{bucket.head}.fetch_or(1, std::memory_order_acquire) & 1) == 0;
}

// Waits until this thread holds the bucket: a bounded spin, then the processor is given up each round, as the holder
// may have lost its own. Whoever locks several does so in ascending order of address, or only tries. Returns whether
// it had to wait.
template <class Sync>
inline bool lock(Bucket& bucket) noexcept {
  constexpr int kSpins = 64;
  Sync::reach(SyncPoint::locking, &bucket);
  if (try_lock(bucket)) [[likely]]
    return false;
  const std::atomic_ref<std::uint16_t> head{bucket.head};
  while (true) {
    Sync::wait_while_locked(&bucket);
    for (int spin = 0; spin < kSpins && (head.load(std::memory_order_relaxed) & 1) != 0; ++spin) pause_processor();
    if (try_lock(bucket)) return true;
    std::this_thread::yield();
  }
}

// Release, so that the next holder sees the slots as they are now. A plain store: whoever tries meanwhile sets a bit
// that is set.
template <class Sync>
inline void unlock(Bucket& bucket) noexcept {
  Sync::reach(SyncPoint::unlocking, &bucket);
  const std::atomic_ref<std::uint16_t> head{bucket.head};
  head.store(head.load(std::memory_order_relaxed) & 0xfffe, std::memory_order_release);
}

// The same where it is known which stamp the bucket has, that of `unit`.
template <class Sync>
inline void unlock(Bucket& bucket, std::uint32_t unit) noexcept {
  Sync::reach(SyncPoint::unlocking, &bucket);
  std::atomic_ref<std::uint16_t>{bucket.head}.store(static_cast<std::uint16_t>(unit << 1), std::memory_order_release);
}

// Requires: this thread holds the lock.
[[nodiscard]] inline std::uint32_t stamp_of(Bucket& bucket) noexcept {
  return std::atomic_ref<std::uint16_t>{bucket.head}.load(std::memory_order_relaxed) >> 1;
}
inline void set_stamp(Bucket& bucket, std::uint32_t stamp) noexcept {
  std::atomic_ref<std::uint16_t>{bucket.head}.store(static_cast<std::uint16_t>(stamp << 1 | 1),
                                                    std::memory_order_relaxed);
}

}  // namespace penstock::store
