#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/instant.h"

namespace penstock::trial {

// Times in tests and load descriptions: numbers with units h, m, s and ms, fractions too, several in a row.
inline constexpr std::string_view kTimeForms = "0, 250ms, 1.5s, 1m30s or 2h";

// Nothing for other texts, for negative ones, and beyond kLongest.
inline constexpr Nanoseconds kLongest = std::chrono::hours{24 * 366 * 10};
[[nodiscard]] std::optional<Nanoseconds> parse_time(std::string_view text) noexcept;

// "1.5s", "2m3s", "0s": exact to the nanosecond.
[[nodiscard]] std::string to_text(Nanoseconds time);

// Unix seconds, or RFC 3339 in UTC ("2025-06-01T00:00:00Z"); nothing for other texts, and before 2025 or after 2054.
inline constexpr std::string_view kInstantForms = "2025-06-01T00:00:00Z, or Unix seconds, from 2025 to 2054";
[[nodiscard]] std::optional<Instant> parse_instant(std::string_view text) noexcept;

}  // namespace penstock::trial
