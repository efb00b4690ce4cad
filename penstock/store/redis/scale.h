#pragma once

#include <cstdint>

#include "penstock/base/instant.h"

namespace penstock::store::redis {

// Scripts count in doubles, which hold whole numbers up to 2^53 exactly. What they count in is chosen for each limit
// here, so that no number passes that.

inline constexpr std::int64_t kExactBits = 53;

// One rate of a bucket, as scripts/3_buckets.lua reads it: `credits` come back each tick of `tick_us` microseconds, a
// cost unit is `price` credits, a full bucket `room`, the longest wait `wait`. With ticks up to a second the rate is
// exact where the numbers fit; else it is lower than asked by `rate_error` of itself, at most 2^-20 but for rates of
// a few units in years with bursts of billions.
// Source: the credit form of the token bucket, docs/algorithms.md.
struct BucketScale {
  std::int64_t credits = 0;
  std::int64_t price = 0;
  std::int64_t room = 0;
  std::int64_t tick_us = 1;
  std::int64_t wait = 0;
  double rate_error = 0;

  friend bool operator==(const BucketScale&, const BucketScale&) = default;
};

struct BucketRate {
  std::uint32_t amount = 0;  // at least 1, as the next two
  std::int64_t window_seconds = 1;
  std::uint32_t burst = 0;
  Nanoseconds max_wait{0};
};

[[nodiscard]] BucketScale bucket_scale(const BucketRate& rate) noexcept;

// A sliding window, as scripts/2_windows.lua reads it: the former window is weighed in `parts` of `tick_us`
// microseconds, rounded up. Exact where the amount times the window's microseconds is below 2^53.
struct SlidingScale {
  std::int64_t tick_us = 1;
  std::int64_t parts = 0;

  friend bool operator==(const SlidingScale&, const SlidingScale&) = default;
};

[[nodiscard]] SlidingScale sliding_scale(std::uint32_t amount, std::int64_t window_seconds) noexcept;

}  // namespace penstock::store::redis
