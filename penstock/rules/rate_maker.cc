#include "penstock/rules/rate_maker.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/base/nearest.h"

namespace penstock::rules {
namespace {

constexpr std::array kUnits{Unit::second, Unit::minute, Unit::hour, Unit::day, Unit::week, Unit::month, Unit::year};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::optional<Unit> read_unit(const RateDraft& draft, Findings& findings) {
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

}  // namespace

std::optional<Unit> unit_named(std::string_view text) {
  for (const Unit unit : kUnits) {
    if (std::ranges::equal(text, to_string(unit), {}, lower)) return unit;
  }
  return std::nullopt;
}

std::optional<Time> read_time(const RateDraft& draft, Findings& findings) {
  const std::optional<Unit> unit = read_unit(draft, findings);
  if (!unit || draft.unit_multiplier.broken) return std::nullopt;
  const std::uint32_t multiplier = draft.unit_multiplier.stated ? draft.unit_multiplier.value : 1;
  const std::int64_t most = algorithm::Limit::kMaxWindowSeconds / seconds_of(*unit);
  if (multiplier > most) {
    findings.error(draft.unit_multiplier.mark,
                   fmt::format("'unit_multiplier' is {}; accepted is a whole number from 1 to {} for the unit {}",
                               multiplier, most, to_string(*unit)));
    return std::nullopt;
  }
  return Time{.unit = *unit, .multiplier = multiplier, .seconds = multiplier * seconds_of(*unit)};
}

bool check_positive(const RateDraft& draft, std::string_view subject, Findings& findings) {
  if (draft.requests_per_unit.broken) return false;
  if (draft.requests_per_unit.value > 0) return true;
  const bool stated = draft.requests_per_unit.stated;
  findings.error(stated ? draft.requests_per_unit.mark : draft.mark,
                 fmt::format("{}: {} needs a rate of at least 1 (fixed_window and sliding_window take 0, and refuse "
                             "all)",
                             stated ? "'requests_per_unit' is 0" : "no 'requests_per_unit'", subject));
  return false;
}

std::uint32_t burst_of(const RateDraft& draft) {
  return draft.burst.stated ? draft.burst.value : draft.requests_per_unit.value;
}

std::string meant(std::string_view text, std::span<const std::string_view> names) {
  const std::optional<std::string_view> near = nearest(text, names);
  return near ? fmt::format("; did you mean '{}'? accepted: {}", *near, fmt::join(names, ", "))
              : fmt::format("; accepted: {}", fmt::join(names, ", "));
}

}  // namespace penstock::rules
