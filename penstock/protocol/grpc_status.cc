#include "penstock/protocol/grpc_status.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace penstock::protocol {
namespace {

constexpr std::array<std::string_view, 17> kNumbers{"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                                    "9", "10", "11", "12", "13", "14", "15", "16"};

std::string_view without_parameters(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (!content_type.empty() && (content_type.back() == ' ' || content_type.back() == '\t')) {
    content_type.remove_suffix(1);
  }
  return content_type;
}

bool equal_in_any_case(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

Nanoseconds unit_of(char letter) {
  switch (letter) {
    case 'H': return std::chrono::hours{1};
    case 'M': return std::chrono::minutes{1};
    case 'S': return std::chrono::seconds{1};
    case 'm': return std::chrono::milliseconds{1};
    case 'u': return std::chrono::microseconds{1};
    case 'n': return Nanoseconds{1};
    default: return Nanoseconds{0};
  }
}

}  // namespace

std::string_view status_number(ErrorCode code) noexcept { return kNumbers[static_cast<std::size_t>(code)]; }

void append_percent_encoded(std::string_view text, std::string& out) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text.substr(0, kMaxStatusText)) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += escaped ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (escaped) i += 2;
  }
  return out;
}

std::optional<Nanoseconds> parse_timeout(std::string_view text) noexcept {
  constexpr std::size_t kMaxDigits = 8;
  if (text.size() < 2 || text.size() > kMaxDigits + 1) return std::nullopt;
  const Nanoseconds unit = unit_of(text.back());
  if (unit == Nanoseconds::zero()) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  // 99999999 hours are more than nanoseconds in 64 bits can say.
  const std::int64_t most = Nanoseconds::max() / unit;
  return number > most ? Nanoseconds::max() : number * unit;
}

bool is_grpc_content_type(std::string_view content_type) noexcept {
  const std::string_view type = without_parameters(content_type);
  return equal_in_any_case(type, "application/grpc") || equal_in_any_case(type, "application/grpc+proto");
}

Instant store_deadline(Instant began, Nanoseconds timeout) noexcept {
  const Nanoseconds margin = std::min<Nanoseconds>(std::chrono::milliseconds{2}, timeout / 4);
  const Nanoseconds patience = timeout - margin;
  return patience > Instant::max() - began ? Instant::max() : began + patience;
}

}  // namespace penstock::protocol
