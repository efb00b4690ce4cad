#include "penstock/protocol/json_number.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace penstock::protocol {
namespace {

// The pieces of a JSON number (RFC 8259, section 6).
struct Pieces {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

std::string_view take_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || !any_of.contains(text.front())) return false;
  text.remove_prefix(1);
  return true;
}

// Far beyond this an exponent cannot matter: no text is so long.
constexpr std::int64_t kFar = 1'000'000'000;

std::optional<std::int64_t> take_exponent(std::string_view& text) {
  if (!take(text, "eE")) return 0;
  const bool negative = !text.empty() && text.front() == '-';
  (void)take(text, "+-");
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  std::int64_t exponent = 0;
  for (const char c : digits) exponent = std::min(kFar, exponent * 10 + (c - '0'));
  return negative ? -exponent : exponent;
}

std::optional<Pieces> split(std::string_view text) {
  Pieces pieces;
  pieces.negative = take(text, "-");
  pieces.whole = take_digits(text);
  if (pieces.whole.empty() || (pieces.whole.size() > 1 && pieces.whole[0] == '0')) return std::nullopt;
  if (take(text, ".")) {
    pieces.fraction = take_digits(text);
    if (pieces.fraction.empty()) return std::nullopt;
  }
  const std::optional<std::int64_t> exponent = take_exponent(text);
  if (!exponent || !text.empty()) return std::nullopt;
  pieces.exponent = *exponent;
  return pieces;
}

bool append_digit(std::uint64_t& value, char digit) {
  const auto number = static_cast<std::uint64_t>(digit - '0');
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (value > (kMost - number) / 10) return false;
  value = value * 10 + number;
  return true;
}

}  // namespace

std::optional<JsonInteger> parse_json_integer(std::string_view text) noexcept {
  const std::optional<Pieces> pieces = split(text);
  if (!pieces) return std::nullopt;
  JsonInteger result{.magnitude = 0, .negative = pieces->negative};
  // Digits before the point, once the exponent has moved it, make the number; those behind it must be zeros.
  std::int64_t before_point = static_cast<std::int64_t>(pieces->whole.size()) + pieces->exponent;
  for (const std::string_view digits : {pieces->whole, pieces->fraction}) {
    for (const char digit : digits) {
      if (before_point > 0 ? !append_digit(result.magnitude, digit) : digit != '0') return std::nullopt;
      --before_point;
    }
  }
  for (; before_point > 0 && result.magnitude != 0; --before_point) {
    if (!append_digit(result.magnitude, '0')) return std::nullopt;
  }
  return result;
}

}  // namespace penstock::protocol
