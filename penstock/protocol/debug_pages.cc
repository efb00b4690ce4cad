#include "penstock/protocol/debug_pages.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "penstock/rules/description.h"

namespace penstock::protocol {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

// A line must stay one line, whatever a rule's key holds.
std::string without_controls(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_control(c)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper_case(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

}  // namespace

std::string list_limits(const rules::RuleSet& rules) {
  std::vector<std::string> lines;
  for (const auto& rule : rules.rules()) {
    const auto add = [&](std::string_view unit, std::uint32_t requests, std::string_view more) {
      lines.push_back(fmt::format("{}: unit={} requests_per_unit={}, shadow_mode: {}, quota_mode: {}{}\n",
                                  without_controls(rule->path), unit, requests, rule->shadow_mode, rule->quota_mode,
                                  more));
    };
    for (const rules::RuleLimit& limit : rule->limits) {
      const std::string more = limit.is_original() ? "" : fmt::format(", limit: {}", describe_limit(limit));
      add(upper_case(to_string(limit.unit)), limit.requests_per_unit, more);
    }
    if (rule->unlimited) add("UNKNOWN", 0, "");
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string list_figures(std::vector<Figure> figures) {
  std::ranges::sort(figures, {}, &Figure::name);
  std::string out;
  for (const Figure& figure : figures) out += fmt::format("{} {}\n", figure.name, figure.value);
  return out;
}

std::string labelled(std::string_view name, std::string_view label, std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return fmt::format("{}{{{}=\"{}\"}}", name, label, without_controls(escaped));
}

}  // namespace penstock::protocol
