#pragma once

#include <algorithm>

#include "penstock/base/instant.h"

namespace penstock::server {

// The clock of `expire`: it moves only as fast as it is looked at, so that a process that was stopped, a machine that
// slept or a loop that was late does not find every peer overdue at once. What it shows means nothing by itself.
//
// Pure: readings come in as arguments. Threading: Loop-owned.
class PatienceClock {
 public:
  // A look counts for at most `longest`.
  explicit PatienceClock(Nanoseconds longest) noexcept : longest_{longest} {}

  [[nodiscard]] Instant look(Nanoseconds monotonic) noexcept {
    if (looked_) shown_ += std::clamp(monotonic - last_, Nanoseconds::zero(), longest_);
    looked_ = true;
    last_ = monotonic;
    return shown_;
  }

 private:
  const Nanoseconds longest_;
  Nanoseconds last_{};
  Instant shown_ = kStateEpoch;
  bool looked_ = false;
};

}  // namespace penstock::server
