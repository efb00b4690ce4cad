#include "penstock/protocol/decider.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "penstock/base/check.h"
#include "penstock/protocol/reply_extras.h"
#include "penstock/rules/description.h"

namespace penstock::protocol {
namespace {

constexpr std::string_view kOverride = "override";

std::string cut(std::string_view text) {
  if (text.size() <= kMaxLabelBytes) return std::string{text};
  return std::string{text.substr(0, kMaxLabelBytes - 3)} + "...";
}

}  // namespace

std::string structured_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c < ' ' || c > '~' || c == '%') {
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string decider_label(const limiter::Status& status) {
  return status.rule == nullptr ? std::string{kOverride} : cut(status.rule->label);
}

std::string decider_limit(const limiter::Status& status) {
  PENSTOCK_CHECK(status.limit != nullptr);
  if (status.rule == nullptr) return rules::describe_limit(*status.limit);
  const auto index = static_cast<std::size_t>(status.limit - status.rule->limits.data());
  PENSTOCK_CHECK(index < status.rule->limit_texts.size());
  return status.rule->limit_texts[index];
}

std::string decider_item(const limiter::Status& status) {
  std::string item = status.rule == nullptr ? std::string{kOverride} : structured_string(decider_label(status));
  if (status.limit != nullptr) {
    item += fmt::format(";limit={};remaining={}", structured_string(decider_limit(status)), status.remaining);
  }
  if (status.decision.refused()) item += ";over";
  if (status.degraded)
    item += fmt::format(";store={};answer={}", to_string(status.decision.cause), to_string(*status.degraded));
  return item;
}

const limiter::Status* decider_of(const limiter::Verdict& verdict) {
  if (verdict.deciding != nullptr) return verdict.deciding;
  const auto degraded =
      std::ranges::find_if(verdict.statuses, [](const limiter::Status& status) { return status.degraded.has_value(); });
  return degraded == verdict.statuses.end() ? nullptr : &*degraded;
}

}  // namespace penstock::protocol
