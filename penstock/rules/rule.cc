#include "penstock/rules/rule.h"

namespace penstock::rules {

std::int64_t seconds_of(Unit unit) noexcept {
  switch (unit) {
    case Unit::second: return 1;
    case Unit::minute: return 60;
    case Unit::hour: return 3600;
    case Unit::day: return 86'400;
    case Unit::month: return 30 * 86'400;
    case Unit::year: return 365 * 86'400;
    case Unit::week: return 7 * 86'400;
  }
  return 1;
}

std::string_view to_string(Unit unit) noexcept {
  switch (unit) {
    case Unit::second: return "second";
    case Unit::minute: return "minute";
    case Unit::hour: return "hour";
    case Unit::day: return "day";
    case Unit::month: return "month";
    case Unit::year: return "year";
    case Unit::week: return "week";
  }
  return "";
}

std::string_view to_string(Tier tier) noexcept { return tier == Tier::local ? "local" : "global"; }

std::string_view to_string(OnStoreFailure policy) noexcept {
  switch (policy) {
    case OnStoreFailure::error: return "error";
    case OnStoreFailure::allow: return "allow";
    case OnStoreFailure::deny: return "deny";
    case OnStoreFailure::local: return "local";
  }
  return "";
}

std::optional<OnStoreFailure> on_store_failure_named(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kOnStoreFailures; ++i) {
    const auto policy = static_cast<OnStoreFailure>(i);
    if (text == to_string(policy)) return policy;
  }
  return std::nullopt;
}

}  // namespace penstock::rules
