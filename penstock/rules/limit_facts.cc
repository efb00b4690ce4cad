#include "penstock/rules/limit_facts.h"

#include <algorithm>

#include <fmt/format.h>

namespace penstock::rules {
namespace {

using algorithm::Algorithm;

WorstBurst bucket(const RuleLimit& limit) {
  const std::int64_t window = limit.limit.window_seconds();
  const std::uint64_t own = std::uint64_t{limit.burst} + limit.requests_per_unit;
  if (!limit.peak) {
    return {.amount = own,
            .window_seconds = window,
            .formula = fmt::format("burst {} + {}", limit.burst, limit.requests_per_unit)};
  }
  const Peak& peak = *limit.peak;
  const std::int64_t peak_window = seconds_of(peak.unit) * peak.unit_multiplier;
  __extension__ using Wide = __int128;
  const Wide refilled = Wide{peak.requests_per_unit} * window / peak_window;
  const Wide bound = refilled + peak.burst;
  if (bound >= own) {
    return {.amount = own,
            .window_seconds = window,
            .formula = fmt::format("burst {} + {}", limit.burst, limit.requests_per_unit)};
  }
  return {.amount = static_cast<std::uint64_t>(bound),
          .window_seconds = window,
          .formula = fmt::format("the peak's burst {} + {}", peak.burst, static_cast<std::uint64_t>(refilled))};
}

}  // namespace

WorstBurst worst_burst(const RuleLimit& limit) {
  const std::uint64_t amount = limit.requests_per_unit;
  WorstBurst worst{.amount = amount, .window_seconds = limit.limit.window_seconds(), .formula = {}};
  switch (limit.limit.algorithm()) {
    case Algorithm::fixed_window:
      worst.amount = 2 * amount;
      worst.formula = fmt::format("2 x {} around a seam of windows", amount);
      break;
    case Algorithm::sliding_window:
      worst.amount = amount == 0 ? 0 : 2 * amount - 1;
      worst.formula = fmt::format("2 x {} - 1, as the former window is taken to be even", amount);
      break;
    case Algorithm::sliding_log: worst.formula = "every hit is remembered"; break;
    case Algorithm::token_bucket:
    case Algorithm::leaky_bucket:
    case Algorithm::gcra: return bucket(limit);
  }
  return worst;
}

std::string describe_precision(const RuleLimit& limit) {
  if (limit.limit.algorithm() == Algorithm::sliding_window) return "no rounding, the former window is estimated";
  return "exact";
}

}  // namespace penstock::rules
