#include "penstock/rules/description.h"

#include <fmt/format.h>

#include "penstock/rules/duration.h"
#include "penstock/rules/findings.h"

namespace penstock::rules {

std::string describe_time(std::uint32_t multiplier, Unit unit) {
  if (multiplier == 1) return std::string{to_string(unit)};
  return fmt::format("{} {}s", multiplier, to_string(unit));
}

std::string describe_limit(const RuleLimit& limit) {
  const algorithm::Limit& counted = limit.limit;
  std::string text = fmt::format("{} per {}, {}", limit.requests_per_unit,
                                 describe_time(limit.unit_multiplier, limit.unit), to_string(counted.algorithm()));
  if (counted.is_bucket()) text += fmt::format(", burst {}", limit.burst);
  if (limit.peak) {
    text += fmt::format(", peak {} per {} with burst {}", limit.peak->requests_per_unit,
                        describe_time(limit.peak->unit_multiplier, limit.peak->unit), limit.peak->burst);
  }
  if (counted.max_wait() > Nanoseconds{0}) {
    text += fmt::format(", waits of up to {} for callers that can wait", to_text(counted.max_wait()));
  }
  if (counted.spreads_windows()) text += ", windows begin at an offset per key";
  if (limit.tier == Tier::local) text += ", counted by each node alone";
  if (!limit.store.empty()) text += fmt::format(", in store {}", escaped(limit.store));
  if (limit.on_store_failure) text += fmt::format(", on_store_failure {}", to_string(*limit.on_store_failure));
  if (counted.capacity() == 0) {
    text += ": refuses every hit";
  } else if (counted.counts_refused()) {
    text += ", refused hits count as well";
  }
  return text;
}

std::vector<std::string> describe_rule(const Rule& rule) {
  const std::string_view shadow = rule.shadow_mode ? ", shadow_mode" : "";
  const std::string_view quota = rule.quota_mode ? ", quota_mode" : "";
  std::vector<std::string> lines;
  const auto add = [&](std::string_view limit) {
    lines.push_back(fmt::format("'{}': {}{}{}", escaped(rule.path), limit, shadow, quota));
  };
  if (rule.unlimited) add("unlimited");
  for (const RuleLimit& limit : rule.limits) add(describe_limit(limit));
  return lines;
}

}  // namespace penstock::rules
