#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/algorithm/testing/limits.h"

namespace penstock::algorithm::testing {

// Limits of one sort, which a test goes through.
struct Family {
  std::string name;
  std::vector<LimitOptions> limits;
};

inline void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

// All limits, with and without counting refused cost.
[[nodiscard]] inline std::vector<Family> families() {
  std::vector<Family> all = {{"buckets", buckets()},
                             {"peaks", peaks()},
                             {"shapers", shapers()},
                             {"windows", windows()},
                             {"spread_windows", spread(windows())},
                             {"sliding_windows", sliding_windows()},
                             {"spread_sliding_windows", spread(sliding_windows())},
                             {"sliding_logs", sliding_logs()}};
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    all.push_back({all[i].name + "_that_count_refused", counting_refused(all[i].limits)});
  }
  return all;
}

class FamilyTest : public ::testing::TestWithParam<Family> {
 protected:
  // Calls `check(options)` for each limit of the family.
  template <class Check>
  static void for_each_limit(Check check) {
    for (const LimitOptions& options : GetParam().limits) {
      SCOPED_TRACE(::testing::PrintToString(options));
      check(options);
      if (HasFatalFailure()) return;
    }
  }
};

[[nodiscard]] inline std::string name_of(const ::testing::TestParamInfo<Family>& info) { return info.param.name; }

}  // namespace penstock::algorithm::testing
