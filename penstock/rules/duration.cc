#include "penstock/rules/duration.h"

#include <array>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace penstock::rules {
namespace {

struct TimeUnit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::array<TimeUnit, 4> kUnits{{
    {"ms", 1'000'000},
    {"s", kNanosecondsPerSecond},
    {"m", 60 * kNanosecondsPerSecond},
    {"h", 3600 * kNanosecondsPerSecond},
}};

}  // namespace

std::optional<Nanoseconds> parse_duration(std::string_view text) noexcept {
  if (text.empty() || text.front() == '-') return std::nullopt;
  std::int64_t count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc{}) return std::nullopt;
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const TimeUnit& unit : kUnits) {
    std::int64_t nanoseconds = 0;
    if (rest != unit.name) continue;
    if (__builtin_mul_overflow(count, unit.nanoseconds, &nanoseconds)) return std::nullopt;
    return Nanoseconds{nanoseconds};
  }
  return std::nullopt;
}

std::string to_text(Nanoseconds duration) {
  const TimeUnit* best = kUnits.data();
  for (const TimeUnit& unit : kUnits) {
    if (duration.count() != 0 && duration.count() % unit.nanoseconds == 0) best = &unit;
  }
  return fmt::format("{}{}", duration.count() / best->nanoseconds, best->name);
}

}  // namespace penstock::rules
