#pragma once

#include <cstdint>
#include <string>

#include "penstock/rules/rule.h"

namespace penstock::rules {

// What a limit lets through at worst; docs/algorithms.md has the reasons, and tests of `algorithm` hold the bounds.
struct WorstBurst {
  std::uint64_t amount = 0;  // in any stretch as long as the window
  std::int64_t window_seconds = 0;
  std::string formula;  // "2 x 600: around a seam of two windows"
};

//   fixed_window               2L
//   sliding_window             2L - 1
//   sliding_log                L
//   the three buckets          B + L; with a peak no more than the peak's own bound, Bp + W x Lp/Wp
[[nodiscard]] WorstBurst worst_burst(const RuleLimit& limit);

// What its arithmetic rounds or estimates, on the embedded store.
[[nodiscard]] std::string describe_precision(const RuleLimit& limit);

}  // namespace penstock::rules
