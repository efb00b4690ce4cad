#pragma once

#include <algorithm>

#include "penstock/base/instant.h"

namespace penstock::store::redis {

// Time for deadlines, from instants of a clock that may be set: goes on by what passed between two readings, but never
// back, and by kLongestStep at most. So a clock that is set neither lets everything run late at once nor hold for ever.
// Requires: read at least every kLongestStep, or it is slow. Threading: Value.
class ElapsedClock {
 public:
  static constexpr Nanoseconds kLongestStep = std::chrono::milliseconds{100};

  Nanoseconds read(Instant now) noexcept {
    if (read_once_ && now > last_) elapsed_ += std::min(now - last_, kLongestStep);
    last_ = now;
    read_once_ = true;
    return elapsed_;
  }

 private:
  Instant last_;
  bool read_once_ = false;
  Nanoseconds elapsed_{0};
};

}  // namespace penstock::store::redis
