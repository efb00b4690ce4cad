#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "penstock/rules/draft.h"
#include "penstock/rules/findings.h"
#include "penstock/rules/rule.h"

// So much in what time, from what the file says. What is wrong goes to the findings.

namespace penstock::rules {

// The length of a window, or the time in which a bucket refills.
struct Time {
  Unit unit = Unit::second;
  std::uint32_t multiplier = 1;
  std::int64_t seconds = 1;
};

// In any case of letters, as in envoyproxy/ratelimit.
[[nodiscard]] std::optional<Unit> unit_named(std::string_view text);

[[nodiscard]] std::optional<Time> read_time(const RateDraft& draft, Findings& findings);

// Whether the rate is one of at least 1, which `subject` needs.
[[nodiscard]] bool check_positive(const RateDraft& draft, std::string_view subject, Findings& findings);

// As stated, else as much as the rate's.
[[nodiscard]] std::uint32_t burst_of(const RateDraft& draft);

// "; did you mean 'x'? accepted: x, y", the end of a message about an unknown word.
[[nodiscard]] std::string meant(std::string_view text, std::span<const std::string_view> names);

}  // namespace penstock::rules
