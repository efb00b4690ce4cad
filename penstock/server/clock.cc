#include "penstock/server/clock.h"

#include <algorithm>
#include <ctime>

namespace penstock::server {
namespace {

Nanoseconds read(clockid_t clock) noexcept {
  timespec reading{};
  clock_gettime(clock, &reading);
  return std::chrono::seconds{reading.tv_sec} + Nanoseconds{reading.tv_nsec};
}

}  // namespace

WallOffset::WallOffset(Nanoseconds monotonic, Nanoseconds wall) noexcept
    : offset_{(wall - monotonic).count()}, last_observed_{monotonic} {}

Nanoseconds WallOffset::observe(Nanoseconds monotonic, Nanoseconds wall) noexcept {
  const Nanoseconds offset{offset_.load(std::memory_order_relaxed)};
  const Nanoseconds difference = wall - monotonic - offset;
  const Nanoseconds passed = std::max(monotonic - last_observed_, Nanoseconds::zero());
  last_observed_ = monotonic;
  if (difference >= kStep || difference <= -kStep) {
    offset_.store((offset + difference).count(), std::memory_order_relaxed);
    steps_.fetch_add(1, std::memory_order_relaxed);
    return difference;
  }
  const Nanoseconds most{passed.count() / 1'000'000 * kSlewPartsPerMillion};
  offset_.store((offset + std::clamp(difference, -most, most)).count(), std::memory_order_relaxed);
  return Nanoseconds::zero();
}

Nanoseconds read_monotonic() noexcept { return read(CLOCK_BOOTTIME); }
Nanoseconds read_wall() noexcept { return read(CLOCK_REALTIME); }

}  // namespace penstock::server
