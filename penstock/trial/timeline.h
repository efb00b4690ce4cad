#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/base/instant.h"
#include "penstock/rules/rule_set.h"

namespace penstock::trial {

// A load to try rules with: requests of one descriptor, evenly spread or at once.
struct Load {
  std::vector<std::pair<std::string, std::string>> entries;
  std::vector<Nanoseconds> at;  // of each request, ascending, from 0 on
};

inline constexpr std::uint64_t kMaxRequests = 1'000'000;
inline constexpr std::string_view kLoadForms =
    "'KEY=VALUE ... COUNT@RATE/s', as in 'api_key=k1 route=orders 100@10/s'; a load is COUNT@RATE/s (or /m, /h), or "
    "COUNT@once, or wait:10s, and there may be several, one after the other";

// Reads words separated by blanks: first entries, then loads. Errors: invalid_argument, naming the word.
[[nodiscard]] Result<Load> parse_load(std::string_view text);

// What became of a load.
struct Timeline {
  struct Interval {
    Nanoseconds begin{0};
    std::uint64_t admitted = 0;
    std::uint64_t refused = 0;
  };

  static constexpr std::size_t kMaxIntervals = 30;

  Nanoseconds interval{0};          // the length of each
  std::vector<Interval> intervals;  // those with requests
  std::uint64_t admitted = 0;
  std::uint64_t refused = 0;
  Nanoseconds first_refused{-1};  // -1: none
  Nanoseconds longest_wait{0};    // that a refused caller was told
  Nanoseconds duration{0};
  std::string decided;  // the rule and limit that decided the last request, in words
};

// Runs a load against rules with fresh counters, from 2025-06-01T00:00:00Z on. Errors: not_found for a domain that no
// rule file names; else as Rehearsal::open.
[[nodiscard]] Result<Timeline> run_load(const std::shared_ptr<const rules::RuleSet>& rules, std::string_view domain,
                                        const Load& load);

// As a table of bars, '#' for admitted and '.' for refused, with a summary.
[[nodiscard]] std::string draw(const Timeline& timeline);

}  // namespace penstock::trial
