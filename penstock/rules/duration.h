#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/instant.h"

namespace penstock::rules {

// Durations as rule files write them: a whole number and a unit, without a blank. "ms", "s", "m" and "h" are the units.
inline constexpr std::string_view kDurationForms = "250ms, 2s, 1m or 1h";

// Nothing for other texts, and for what does not fit.
[[nodiscard]] std::optional<Nanoseconds> parse_duration(std::string_view text) noexcept;

// In the largest unit that keeps the number whole: "250ms", "2s". Requires: a whole number of milliseconds.
[[nodiscard]] std::string to_text(Nanoseconds duration);

}  // namespace penstock::rules
