#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/rules/rule_set.h"
#include "penstock/trial/cases.h"

namespace penstock::trial {

// What was not as expected.
struct Difference {
  Place place;           // of the expectation
  std::size_t step = 0;  // from 1
  Nanoseconds at{0};
  std::string what;  // "expected OK, got OVER_LIMIT"
  std::string why;   // rule, limit and state that decided
};

struct Outcome {
  std::string name;
  Place place;
  std::size_t steps = 0;
  std::vector<Difference> differences;  // none: the test passed
};

// Differences that are kept of one test; a rule that is wrong makes most of them follow from the first.
inline constexpr std::size_t kMaxDifferences = 20;

// Runs one test of a file with counters of its own. Errors: as Rehearsal::open.
[[nodiscard]] Result<Outcome> run_case(const CaseFile& file, const Case& test,
                                       const std::shared_ptr<const rules::RuleSet>& rules);

}  // namespace penstock::trial
