#pragma once

#include <atomic>
#include <cstdint>

#include "penstock/base/instant.h"

namespace penstock::server {

// Keeps the offset from a monotonic reading to wall time. Decisions need a clock that neither jumps nor stops while the
// machine sleeps, and windows that agree with the wall: the offset is taken at the start and then follows the wall
// slowly, by at most 500 ppm of the time passed (what NTP slews by). A difference of kStep or more is a clock that was
// set: it is applied at once and counted.
//
// Pure: readings come in as arguments. Threading: `observe` by one thread, the rest Thread-safe.
class WallOffset {
 public:
  static constexpr Nanoseconds kStep{128'000'000};  // as ntpd decides between slewing and stepping
  static constexpr std::int64_t kSlewPartsPerMillion = 500;

  WallOffset(Nanoseconds monotonic, Nanoseconds wall) noexcept;

  // Compares both clocks; call about once a second. Returns the step applied, zero for none.
  Nanoseconds observe(Nanoseconds monotonic, Nanoseconds wall) noexcept;

  [[nodiscard]] Instant at(Nanoseconds monotonic) const noexcept {
    return Instant{monotonic + Nanoseconds{offset_.load(std::memory_order_relaxed)}};
  }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_.load(std::memory_order_relaxed); }

 private:
  // Relaxed: a reader that sees the old offset for a moment is early or late by what one call of `observe` moves.
  std::atomic<std::int64_t> offset_;
  std::atomic<std::uint64_t> steps_{0};
  Nanoseconds last_observed_;
};

// CLOCK_BOOTTIME: monotonic, counts while the machine sleeps.
[[nodiscard]] Nanoseconds read_monotonic() noexcept;
[[nodiscard]] Nanoseconds read_wall() noexcept;

}  // namespace penstock::server
