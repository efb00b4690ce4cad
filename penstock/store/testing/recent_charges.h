#pragma once

#include <cstddef>
#include <vector>

#include "penstock/base/instant.h"

namespace penstock::store::testing {

// The true number of units that each of many logs was given in the last window, whatever a store says of it.
class RecentCharges {
 public:
  RecentCharges(std::size_t logs, Nanoseconds window) : window_{window}, charged_(logs) {}

  // One more unit for that log; returns how many are in the window then. Requires: `now` never falls.
  std::size_t add(std::size_t log, Instant now) {
    std::vector<Instant>& charged = charged_[log];
    std::erase_if(charged, [&](Instant at) { return now - at >= window_; });
    charged.push_back(now);
    return charged.size();
  }

 private:
  Nanoseconds window_;
  std::vector<std::vector<Instant>> charged_;
};

}  // namespace penstock::store::testing
