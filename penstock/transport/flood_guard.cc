#include "penstock/transport/flood_guard.h"

#include <algorithm>

namespace penstock::transport {

Budget::Budget(std::uint32_t burst, std::uint32_t per_second) noexcept
    : most_{burst * kOne}, per_nanosecond_{per_second}, left_{most_} {}

bool Budget::spend(Instant now) noexcept {
  if (now > filled_) {
    // Capped before it is multiplied, so that the product stays far from 64 bits.
    const std::int64_t nanoseconds = per_nanosecond_ == 0 ? 0 : most_ / per_nanosecond_ + 1;
    const std::int64_t passed = std::min((now - filled_).count(), nanoseconds);
    left_ = std::min(most_, left_ + passed * per_nanosecond_);
  }
  filled_ = now;
  if (left_ < kOne) return false;
  left_ -= kOne;
  return true;
}

void Budget::earn(std::uint32_t count) noexcept { left_ = std::min(most_, left_ + count * kOne); }

bool FloodGuard::on_reset(Instant now) noexcept {
  if (free_resets_ == 0) return on_idle_frame(now);
  --free_resets_;
  return true;
}

}  // namespace penstock::transport
