#include "penstock/yaml/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <span>
#include <system_error>

namespace penstock::yaml {
namespace {

constexpr std::array<std::string_view, 5> kNulls{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrues{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                  "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalses{"n",     "N",     "no",  "No",  "NO", "false",
                                                   "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kOddNumbers{".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",  ".INF",
                                                       "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};

constexpr std::size_t kLongestNumber = 64;  // longer ones would be beyond 64 bits, or have a fraction

bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

// The base that the text begins with, which it then loses.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = digits[1];
  const int base = letter == 'x' || letter == 'X'   ? 16
                   : letter == 'o' || letter == 'O' ? 8
                   : letter == 'b' || letter == 'B' ? 2
                                                    : 0;
  digits.remove_prefix(base == 0 ? 1 : 2);
  return base == 0 ? 8 : base;
}

enum class Parsed : std::uint8_t { no, yes, too_big };

// An integer without underscores.
Parsed parse_integer(std::string_view text, std::int64_t& value) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const int base = take_base(text);
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return Parsed::no;
  const std::uint64_t bound = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
  if (error != std::errc{} || magnitude > bound) return Parsed::too_big;
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return Parsed::yes;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_decimal(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  const std::size_t whole = count_digits(text);
  text.remove_prefix(whole);
  std::size_t fraction = 0;
  if (!text.empty() && text[0] == '.') {
    fraction = count_digits(text.substr(1));
    text.remove_prefix(1 + fraction);
  }
  if (whole + fraction == 0) return false;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return !text.empty() && count_digits(text) == text.size();
}

// Whether a decimal is beyond what a double holds, such as 39e889: Go takes that for text, and parts of hashes look so.
bool is_beyond_double(std::string_view decimal) {
  if (decimal.starts_with('+')) decimal.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
  const bool tiny = decimal.find("e-") != std::string_view::npos || decimal.find("E-") != std::string_view::npos;
  return error == std::errc::result_out_of_range && !tiny;
}

Scalar resolve_number(std::string_view text) noexcept {
  std::array<char, kLongestNumber> buffer;
  std::size_t size = 0;
  for (const char c : text) {
    if (c == '_') continue;
    if (size == buffer.size()) return {.type = is_decimal(text) ? Type::other_number : Type::text};
    buffer[size++] = c;
  }
  const std::string_view plain{buffer.data(), size};
  Scalar scalar;
  const Parsed parsed = parse_integer(plain, scalar.integer);
  if (parsed == Parsed::yes) {
    scalar.type = Type::integer;
  } else if (parsed == Parsed::too_big || (is_decimal(plain) && !is_beyond_double(plain))) {
    scalar.type = Type::other_number;
  }
  return scalar;
}

bool is_text_by_tag(const Node& node) {
  if (node.tag.empty()) return !node.plain;
  return node.tag != "!!bool" && node.tag != "!!int" && node.tag != "!!float" && node.tag != "!!null";
}

}  // namespace

std::string_view describe(Type type) noexcept {
  switch (type) {
    case Type::null: return "null";
    case Type::boolean: return "a boolean";
    case Type::integer: return "an integer";
    case Type::other_number: return "a number that is no 64-bit integer";
    case Type::text: return "a text";
  }
  return "";
}

Scalar resolve_plain(std::string_view text) noexcept {
  if (is_one_of(text, kNulls)) return {.type = Type::null};
  if (is_one_of(text, kTrues)) return {.type = Type::boolean, .boolean = true};
  if (is_one_of(text, kFalses)) return {.type = Type::boolean};
  if (is_one_of(text, kOddNumbers)) return {.type = Type::other_number};
  const char first = text.front();
  const bool may_be_number = is_digit(first) || first == '+' || first == '-' || first == '.';
  return may_be_number ? resolve_number(text) : Scalar{};
}

Scalar resolve(const Node& node) noexcept {
  if (is_text_by_tag(node)) return {};
  if (node.tag == "!!float") return {.type = Type::other_number};
  return resolve_plain(node.text);
}

bool tag_fits(const Node& node) noexcept {
  if (node.tag.empty() || is_text_by_tag(node)) return true;
  const Type type = resolve_plain(node.text).type;
  if (node.tag == "!!bool") return type == Type::boolean;
  if (node.tag == "!!int") return type == Type::integer;
  if (node.tag == "!!null") return type == Type::null;
  return type == Type::other_number || type == Type::integer;
}

double to_double(const Node& node) noexcept {
  const Scalar scalar = resolve_plain(node.text);
  if (scalar.type == Type::integer) return static_cast<double>(scalar.integer);
  std::string plain;
  std::ranges::copy_if(node.text, std::back_inserter(plain), [](char c) { return c != '_' && c != '+'; });
  if (plain.ends_with("inf") || plain.ends_with("Inf") || plain.ends_with("INF")) {
    return plain.front() == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  const bool negative = plain.starts_with('-');
  const std::string_view number = std::string_view{plain}.substr(negative ? 1 : 0);
  std::string_view digits = number;
  const int base = take_base(digits);
  double value = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (error == std::errc{} && end == digits.data() + digits.size()) {
    value = static_cast<double>(magnitude);
  } else {
    std::from_chars(number.data(), number.data() + number.size(), value);
  }
  return negative ? -value : value;
}

std::optional<std::string> decode_base64(std::string_view text) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const std::size_t digit = kDigits.find(c);
    if (c == '=') {
      ++padding;
    } else if (digit == std::string_view::npos || padding > 0) {
      return std::nullopt;
    } else {
      bits = (bits << 6) | static_cast<std::uint32_t>(digit);
      ++digits;
      if (digits % 4 != 1) out.push_back(static_cast<char>((bits >> (6 - 2 * ((digits - 1) % 4))) & 0xff));
    }
  }
  const bool whole = (digits + padding) % 4 == 0 && padding <= 2;
  if (!whole) return std::nullopt;
  return out;
}

}  // namespace penstock::yaml
