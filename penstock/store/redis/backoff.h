#pragma once

#include <algorithm>
#include <cstdint>

#include "penstock/base/instant.h"
#include "penstock/base/random.h"

namespace penstock::store::redis {

// How long to wait before the next attempt: doubles from kFirst to kLongest, and each time a random part of at most
// half is taken off, so that many nodes that lost one server do not come back at once. Threading: Value.
class Backoff {
 public:
  static constexpr Nanoseconds kFirst = std::chrono::milliseconds{50};
  static constexpr Nanoseconds kLongest = std::chrono::seconds{1};

  explicit Backoff(std::uint64_t seed) noexcept : random_{seed} {}

  [[nodiscard]] Nanoseconds next() noexcept {
    const Nanoseconds whole = wait_;
    wait_ = std::min(2 * wait_, kLongest);
    return whole - Nanoseconds{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(whole.count()) / 2))};
  }
  void reset() noexcept { wait_ = kFirst; }

 private:
  Random random_;
  Nanoseconds wait_ = kFirst;
};

}  // namespace penstock::store::redis
