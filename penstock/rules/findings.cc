#include "penstock/rules/findings.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace penstock::rules {
namespace {

constexpr std::size_t kLongestInQuotes = 64;

std::tuple<int, int> order(const Error& error) {
  return error.place ? std::tuple{error.place->line, error.place->column} : std::tuple{0, 0};
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  std::size_t size = std::min(text.size(), kLongestInQuotes);
  while (size > 0 && size < text.size() && continues_character(text[size])) --size;
  return fmt::format("'{}{}'", escaped(text.substr(0, size)), size < text.size() ? "..." : "");
}

void Findings::begin(std::string source) {
  source_ = std::move(source);
  errors_.begin = errors_.list.size();
  warnings_.begin = warnings_.list.size();
}

void Findings::error(Error error) {
  if (!full()) insert(errors_, std::move(error));
}

void Findings::warning(Place place, std::string message) {
  if (warnings_.list.size() >= kMaxKept) return;
  warnings_.list.push_back(
      {.code = ErrorCode::invalid_argument, .message = std::move(message), .place = std::move(place)});
}

void Findings::keep(Kept& kept, yaml::Mark mark, std::string message) {
  if (kept.list.size() >= kMaxKept) return;
  insert(kept, {.code = ErrorCode::invalid_argument, .message = std::move(message), .place = place(mark)});
}

// In the order of the text, though a file is gone through more than once.
void Findings::insert(Kept& kept, Error error) {
  const auto begin = kept.list.begin() + static_cast<std::ptrdiff_t>(kept.begin);
  const auto at = std::ranges::upper_bound(begin, kept.list.end(), order(error), {}, order);
  kept.list.insert(at, std::move(error));
}

std::vector<Error> Findings::take(Kept& kept) {
  if (kept.list.size() >= kMaxKept) {
    kept.list.push_back({.code = ErrorCode::invalid_argument,
                         .message = fmt::format("there may be more; {} are listed at most", kMaxKept),
                         .place = std::nullopt});
  }
  return std::move(kept.list);
}

}  // namespace penstock::rules
