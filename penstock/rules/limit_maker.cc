#include "penstock/rules/limit_maker.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/base/nearest.h"

namespace penstock::rules {
namespace {

using algorithm::Algorithm;

constexpr std::array kUnits{Unit::second, Unit::minute, Unit::hour, Unit::day, Unit::week, Unit::month, Unit::year};
constexpr std::array<std::string_view, 2> kAlgorithms{"fixed_window", "gcra"};
constexpr std::array<std::string_view, 4> kLaterAlgorithms{"token_bucket", "leaky_bucket", "sliding_window",
                                                           "sliding_log"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::optional<Unit> unit_named(std::string_view text) {
  for (const Unit unit : kUnits) {
    if (std::ranges::equal(text, to_string(unit), {}, lower)) return unit;
  }
  return std::nullopt;
}

std::string meant(std::string_view text, std::span<const std::string_view> names) {
  const std::optional<std::string_view> near = nearest(text, names);
  return near ? fmt::format("; did you mean '{}'? accepted: {}", *near, fmt::join(names, ", "))
              : fmt::format("; accepted: {}", fmt::join(names, ", "));
}

std::optional<Unit> read_unit(const LimitDraft& draft, Findings& findings) {
  if (draft.unit.broken) return std::nullopt;
  const std::optional<Unit> unit = unit_named(draft.unit.value);
  if (unit) return unit;
  std::array<std::string_view, kUnits.size()> names;
  std::ranges::transform(kUnits, names.begin(), [](Unit known) { return to_string(known); });
  if (draft.unit.value.empty()) {
    findings.error(draft.unit.stated ? draft.unit.mark : draft.mark,
                   fmt::format("a limit without 'unit'; accepted: {}", fmt::join(names, ", ")));
  } else {
    findings.error(draft.unit.mark,
                   fmt::format("unknown unit {}{}", in_quotes(draft.unit.value), meant(draft.unit.value, names)));
  }
  return std::nullopt;
}

std::optional<Algorithm> read_algorithm(const LimitDraft& draft, Findings& findings) {
  const std::string& text = draft.algorithm.value;
  if (draft.algorithm.broken) return std::nullopt;
  if (!draft.algorithm.stated || text == to_string(Algorithm::fixed_window)) return Algorithm::fixed_window;
  if (text == to_string(Algorithm::gcra)) return Algorithm::gcra;
  if (std::ranges::find(kLaterAlgorithms, text) != kLaterAlgorithms.end()) {
    findings.error(
        draft.algorithm.mark,
        fmt::format("algorithm {} is not in this version, which knows fixed_window and gcra", in_quotes(text)));
  } else {
    findings.error(draft.algorithm.mark,
                   fmt::format("unknown algorithm {}{}", in_quotes(text), meant(text, kAlgorithms)));
  }
  return std::nullopt;
}

// Whether amount and burst suit the algorithm.
bool check_numbers(const LimitDraft& draft, Algorithm algorithm, Findings& findings) {
  bool fine = !draft.requests_per_unit.broken && !draft.burst.broken;
  if (algorithm == Algorithm::fixed_window && draft.burst.stated) {
    findings.error(draft.burst.mark, "'burst' has no meaning for fixed_window; accepted with algorithm gcra");
    fine = false;
  }
  if (draft.requests_per_unit.broken || draft.requests_per_unit.value > 0) return fine;
  const yaml::Mark mark = draft.requests_per_unit.stated ? draft.requests_per_unit.mark : draft.mark;
  const std::string_view what = draft.requests_per_unit.stated ? "'requests_per_unit' is 0" : "no 'requests_per_unit'";
  if (algorithm == Algorithm::gcra) {
    findings.error(mark,
                   fmt::format("{}: gcra needs a rate of at least 1 (fixed_window takes 0, and refuses all)", what));
    return false;
  }
  if (!draft.requests_per_unit.stated) findings.warning(mark, fmt::format("{}: this limit refuses every hit", what));
  return fine;
}

// A limit that is alone is the original's, whose windows count refused hits as well.
std::optional<RuleLimit> make(const LimitDraft& draft, bool from_list, Findings& findings) {
  const std::optional<Unit> unit = read_unit(draft, findings);
  const std::optional<Algorithm> algorithm = read_algorithm(draft, findings);
  if (!algorithm || !check_numbers(draft, *algorithm, findings) || !unit) return std::nullopt;
  const std::uint32_t amount = draft.requests_per_unit.value;
  const Result<algorithm::Limit> limit = algorithm::Limit::create({
      .algorithm = *algorithm,
      .amount = amount,
      .window_seconds = seconds_of(*unit),
      .burst = draft.burst.stated ? draft.burst.value : amount,
      .count_refused = *algorithm == Algorithm::fixed_window && !from_list,
  });
  if (!limit) {
    findings.error(draft.mark, limit.error().message);
    return std::nullopt;
  }
  return RuleLimit{.limit = *limit, .unit = *unit, .requests_per_unit = amount, .rank = 0, .from_list = from_list};
}

// Whether the two would be one counter but for their ranks.
bool same_identity(const RuleLimit& a, const RuleLimit& b) {
  if (a.limit.algorithm() != b.limit.algorithm()) return false;
  return !a.limit.is_window() || a.limit.window_seconds() == b.limit.window_seconds();
}

// Ranks `limit` among `others`; false if it cannot stand beside them.
bool rank(RuleLimit& limit, std::span<const RuleLimit> others, yaml::Mark mark, Findings& findings) {
  for (const RuleLimit& other : others) {
    if (!same_identity(limit, other)) continue;
    ++limit.rank;
    if (limit.limit.is_window()) {
      findings.error(mark, fmt::format("a second fixed_window per {} in one list: the smaller one alone decides",
                                       to_string(limit.unit)));
      return false;
    }
    if (limit.limit == other.limit) {
      findings.error(mark, "the same limit twice in one list");
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RuleLimit> make_limit(const LimitDraft& draft, Findings& findings) {
  return make(draft, false, findings);
}

std::vector<RuleLimit> make_limits(std::span<const LimitDraft> drafts, Findings& findings) {
  std::vector<RuleLimit> limits;
  for (const LimitDraft& draft : drafts) {
    std::optional<RuleLimit> limit = make(draft, true, findings);
    if (limit && rank(*limit, limits, draft.mark, findings)) limits.push_back(*limit);
  }
  return limits;
}

void check_unlimited(const LimitDraft& draft, Findings& findings) {
  if (unit_named(draft.unit.value)) {
    findings.error(draft.unit.mark, fmt::format("unit {} together with 'unlimited: true'; accepted is one of the two",
                                                in_quotes(draft.unit.value)));
  } else if (draft.unit.stated) {
    findings.warning(draft.unit.mark,
                     fmt::format("unknown unit {}, ignored because of 'unlimited: true'", in_quotes(draft.unit.value)));
  }
  for (const yaml::Mark& mark : {draft.algorithm.stated ? draft.algorithm.mark : yaml::Mark{},
                                 draft.burst.stated ? draft.burst.mark : yaml::Mark{}}) {
    if (mark.line != 0) findings.error(mark, "'algorithm' and 'burst' have no meaning together with 'unlimited: true'");
  }
}

}  // namespace penstock::rules
