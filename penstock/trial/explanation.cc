#include "penstock/trial/explanation.h"

#include <fmt/format.h>

#include "penstock/rules/description.h"
#include "penstock/trial/time_text.h"

namespace penstock::trial {
namespace {

using algorithm::Outcome;

std::string state_of(const algorithm::Decision& decision) {
  std::string text = fmt::format("{} left", decision.remaining);
  if (decision.outcome == Outcome::denied) text += fmt::format(", passes in {}", to_text(decision.retry_after));
  if (decision.outcome == Outcome::never) text += ", never passes: more than a fresh counter lets through";
  return text + fmt::format(", as good as fresh in {}", to_text(decision.reset_after));
}

}  // namespace

std::string_view to_string(limiter::Code code) noexcept { return code == limiter::Code::ok ? "OK" : "OVER_LIMIT"; }

std::string explain(const limiter::Status& status) {
  if (status.rule == nullptr) {
    return status.reset_seconds ? "a limit that came with the request"
                                : "no rule with a limit matches, or it is replaced";
  }
  const std::string rule = fmt::format("rule '{}' ({})", status.rule->path, penstock::to_string(status.rule->place));
  if (status.limit == nullptr) return rule + (status.rule->unlimited ? ": unlimited" : "");
  const std::string_view mode = status.rule->shadow_mode  ? ", shadow_mode"
                                : status.rule->quota_mode ? ", quota_mode"
                                                          : "";
  return fmt::format("{}: {}{}; {}", rule, rules::describe_limit(*status.limit), mode, state_of(status.decision));
}

}  // namespace penstock::trial
