#include "penstock/trial/time_text.h"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace penstock::trial {
namespace {

constexpr std::int64_t kLastSecond = 2'682'374'400;  // 2055-01-01

struct Unit {
  std::string_view text;
  std::int64_t nanoseconds;
};

constexpr Unit kUnits[] = {{"ms", 1'000'000}, {"h", 3'600'000'000'000}, {"m", 60'000'000'000}, {"s", 1'000'000'000}};

const Unit* take_unit(std::string_view& text) {
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.text)) continue;
    text.remove_prefix(unit.text.size());
    return &unit;
  }
  return nullptr;
}

// A whole number and the digits behind its point, which are exact up to nine.
struct Number {
  std::int64_t whole = 0;
  std::int64_t billionths = 0;
};

std::optional<std::int64_t> take_digits(std::string_view& text) {
  std::int64_t value = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<Number> take_number(std::string_view& text) {
  const std::optional<std::int64_t> whole = take_digits(text);
  if (!whole) return std::nullopt;
  Number number{.whole = *whole};
  if (!text.starts_with('.')) return number;
  text.remove_prefix(1);
  const std::size_t before = text.size();
  const std::optional<std::int64_t> fraction = take_digits(text);
  const std::size_t digits = before - text.size();
  if (!fraction || digits > 9) return std::nullopt;
  number.billionths = *fraction;
  for (std::size_t i = digits; i < 9; ++i) number.billionths *= 10;
  return number;
}

// Digits in the place of `form`'s zeros, everything else as in it.
bool has_form(std::string_view text, std::string_view form) {
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool fits = form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];
    if (!fits) return false;
  }
  return true;
}

std::optional<Instant> within_range(std::int64_t seconds) {
  const Instant instant = instant_from_unix_seconds(seconds > kLastSecond || seconds < 0 ? 0 : seconds);
  if (instant < kStateEpoch) return std::nullopt;
  return instant;
}

}  // namespace

std::optional<Nanoseconds> parse_time(std::string_view text) noexcept {
  if (text == "0") return Nanoseconds{0};
  if (text.empty()) return std::nullopt;
  __extension__ using Wide = __int128;
  Wide total = 0;
  while (!text.empty()) {
    const std::optional<Number> number = take_number(text);
    const Unit* const unit = number ? take_unit(text) : nullptr;
    if (unit == nullptr) return std::nullopt;
    total += Wide{number->whole} * unit->nanoseconds + Wide{number->billionths} * unit->nanoseconds / 1'000'000'000;
    if (total > kLongest.count()) return std::nullopt;
  }
  return Nanoseconds{static_cast<std::int64_t>(total)};
}

std::string to_text(Nanoseconds time) {
  const std::int64_t nanoseconds = time.count();
  if (nanoseconds < 0) return fmt::format("-{}", to_text(-time));
  const std::int64_t minutes = nanoseconds / 60'000'000'000;
  std::string seconds = fmt::format("{}", nanoseconds / 1'000'000'000 % 60);
  if (const std::int64_t fraction = nanoseconds % 1'000'000'000; fraction != 0) {
    seconds += fmt::format(".{:09}", fraction);
    seconds.erase(seconds.find_last_not_of('0') + 1);
  }
  std::string text;
  if (minutes >= 60) text += fmt::format("{}h", minutes / 60);
  if (minutes % 60 != 0) text += fmt::format("{}m", minutes % 60);
  if (seconds != "0" || text.empty()) text += seconds + "s";
  return text;
}

std::optional<Instant> parse_instant(std::string_view text) noexcept {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc{} && end == text.data() + text.size()) return within_range(seconds);
  if (!has_form(text, "0000-00-00T00:00:00Z")) return std::nullopt;
  const auto field = [&](std::size_t at, std::size_t size) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + size, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year{field(0, 4)},
                                         std::chrono::month{static_cast<unsigned>(field(5, 2))},
                                         std::chrono::day{static_cast<unsigned>(field(8, 2))}};
  if (!date.ok() || field(11, 2) > 23 || field(14, 2) > 59 || field(17, 2) > 59) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return within_range(days * 86'400 + field(11, 2) * 3600 + field(14, 2) * 60 + field(17, 2));
}

}  // namespace penstock::trial
