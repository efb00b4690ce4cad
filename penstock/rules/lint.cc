#include "penstock/rules/lint.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "penstock/algorithm/limit.h"
#include "penstock/rules/rate_maker.h"

namespace penstock::rules {
namespace {

constexpr std::int64_t kLongRefill = 3600;  // seconds; from here on a default burst is rarely meant

bool names_bucket(const Stated<std::string>& algorithm) {
  for (const auto bucket :
       {algorithm::Algorithm::gcra, algorithm::Algorithm::token_bucket, algorithm::Algorithm::leaky_bucket}) {
    if (algorithm.value == algorithm::to_string(bucket)) return true;
  }
  return false;
}

class FileLint {
 public:
  explicit FileLint(Findings& findings) : findings_{findings} {}

  void descriptors(const std::vector<DescriptorDraft>& drafts) {
    for (const DescriptorDraft& draft : drafts) {
      descriptor(draft);
      descriptors(draft.descriptors);
    }
  }

 private:
  void descriptor(const DescriptorDraft& draft) {
    blanks(draft.key, "key");
    blanks(draft.value, "value");
    flags(draft);
    if (draft.rate_limit && !draft.rate_limits) burst(*draft.rate_limit);
    if (!draft.rate_limits) return;
    for (const LimitDraft& limit : *draft.rate_limits) burst(limit);
  }

  void blanks(const Stated<std::string>& text, std::string_view field) {
    if (text.value.empty()) return;
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    if (!is_blank(text.value.front()) && !is_blank(text.value.back())) return;
    findings_.warning(text.mark, fmt::format("'{}' is {}, with a blank at its end that a request must send as well",
                                             field, in_quotes(text.value)));
  }

  void flags(const DescriptorDraft& draft) {
    const bool limits = draft.rate_limit || draft.rate_limits;
    const bool unlimited = draft.rate_limit && draft.rate_limit->unlimited.value && !draft.rate_limits;
    const auto useless = [&](bool given, yaml::Mark mark, std::string_view field, std::string_view why) {
      if (given) findings_.warning(mark, fmt::format("'{}' does nothing {}", field, why));
    };
    constexpr std::string_view kUnlimited = "beside 'unlimited: true': nothing is counted or refused there";
    useless(unlimited && draft.shadow_mode.value, draft.shadow_mode.mark, "shadow_mode", kUnlimited);
    useless(unlimited && draft.quota_mode.value, draft.quota_mode.mark, "quota_mode", kUnlimited);
    useless(unlimited && draft.detailed_metric.value, draft.detailed_metric.mark, "detailed_metric", kUnlimited);
    const bool metadata = draft.metadata != nullptr;
    useless(metadata && !limits, draft.mark, "metadata", "on a descriptor without a limit: callers get that of limits");
    useless(metadata && unlimited, draft.mark, "metadata", "beside 'unlimited: true': callers get that of limits");

    const bool star_in_key = draft.key.value.find('*') != std::string::npos;
    const bool star_in_value = draft.value.value.find('*') != std::string::npos;
    useless(draft.value_to_metric.value && !draft.value.value.empty() && !star_in_value, draft.value_to_metric.mark,
            "value_to_metric", "on a descriptor with one value, which its statistics name anyway");
    useless(draft.value_to_metric.value && draft.share_threshold.value, draft.value_to_metric.mark, "value_to_metric",
            "beside 'share_threshold': statistics name the pattern then");
    useless(draft.share_threshold.value && star_in_key && !star_in_value, draft.share_threshold.mark, "share_threshold",
            "for a star in the key: entries with other keys do not share a counter");
  }

  void burst(const LimitDraft& limit) {
    const RateDraft& rate = limit.rate;
    if (rate.burst.stated || rate.burst.broken || !names_bucket(limit.algorithm)) return;
    const std::optional<Unit> unit = unit_named(rate.unit.value);
    if (!unit || rate.requests_per_unit.value < 2) return;
    const std::int64_t multiplier = rate.unit_multiplier.stated ? rate.unit_multiplier.value : 1;
    const std::int64_t seconds = seconds_of(*unit) * multiplier;
    if (seconds < kLongRefill) return;
    const std::uint32_t amount = rate.requests_per_unit.value;
    const std::int64_t a_minute = std::max<std::int64_t>(1, std::int64_t{amount} * 60 / seconds);
    findings_.warning(limit.algorithm.mark,
                      fmt::format("no 'burst': all {} may come at once after a pause; 'burst: {}' would be a minute's "
                                  "worth ('burst: {}' keeps it and ends this warning)",
                                  amount, a_minute, amount));
  }

  Findings& findings_;
};

class SetLint {
 public:
  SetLint(const Compiled& rules, Findings& findings) : rules_{rules}, findings_{findings} {}

  void level(const Level& level, const std::string& path) {
    for (const std::unique_ptr<Node>& node : level.nodes()) {
      const std::string below = path + "." + node->text;
      // For a pattern its own text stands for all that it matches: what takes the text, star and all, takes them all.
      const Node* const before = level.first_pattern_for(node->has_star() ? node->text : node->text + "_*");
      if (before != nullptr && before != node.get()) unreachable(*node, *before, below);
      this->level(node->children, below);
    }
    if (level.nodes().size() > 1) overlapping(level, path);
  }

 private:
  [[nodiscard]] Place place(const Node& node) const {
    return {.file = rules_.sources[node.source], .line = node.line, .column = node.column};
  }

  void unreachable(const Node& node, const Node& before, const std::string& path) {
    // A text with an underscore is also that of a key and a value: then it is found before all patterns.
    const bool found_first = !node.is_key_alone || node.text.find('_') != std::string::npos;
    if (!node.has_star() && found_first) return;
    findings_.warning(place(node),
                      fmt::format("{} can never match: {} in {} takes everything that it would, as patterns are tried "
                                  "in file order{}",
                                  in_quotes(path), in_quotes(before.text), to_string(place(before)),
                                  node.has_star() ? "" : ", and before a key without value"));
  }

  // Two patterns have a text in common if their beginnings and their ends go together: the stars take the rest.
  static bool overlap(std::string_view a, std::string_view b) {
    const auto beginning = [](std::string_view text) { return text.substr(0, text.find('*')); };
    const auto end = [](std::string_view text) { return text.substr(text.rfind('*') + 1); };
    return (beginning(a).starts_with(beginning(b)) || beginning(b).starts_with(beginning(a))) &&
           (end(a).ends_with(end(b)) || end(b).ends_with(end(a)));
  }

  void overlapping(const Level& level, const std::string& path) {
    std::vector<const Node*> patterns;
    for (const std::unique_ptr<Node>& node : level.nodes()) {
      if (node->has_star()) patterns.push_back(node.get());
    }
    if (patterns.empty() || patterns.front()->source == patterns.back()->source) return;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      for (std::size_t j = i + 1; j < patterns.size(); ++j) {
        if (patterns[i]->source == patterns[j]->source) continue;
        if (++compared > kMaxComparedPairs) return;
        if (!overlap(patterns[i]->text, patterns[j]->text)) continue;
        findings_.warning(place(*patterns[j]),
                          fmt::format("in {} the patterns {} here and {} in {} take some values both: the order of the "
                                      "files' names decides here, and chance in envoyproxy/ratelimit",
                                      in_quotes(path), in_quotes(patterns[j]->text), in_quotes(patterns[i]->text),
                                      to_string(place(*patterns[i]))));
        return;  // one of a level is enough to make a reader look
      }
    }
  }

  const Compiled& rules_;
  Findings& findings_;
};

void lint_replaced(const Compiled& rules, const std::vector<ReplacedName>& replaced, Findings& findings) {
  if (replaced.empty()) return;
  std::set<std::pair<std::string_view, std::string_view>> known;  // domain and name
  for (const auto& rule : rules.rules) {
    if (rule->name.empty()) continue;
    known.emplace(rule->domain, rule->name);
  }
  for (const ReplacedName& each : replaced) {
    if (known.contains({each.domain, each.name})) continue;
    findings.warning(each.place, fmt::format("'replaces' names {}, but no limit of domain {} has that name",
                                             in_quotes(each.name), in_quotes(each.domain)));
  }
}

}  // namespace

void lint_file(const FileDraft& file, Findings& findings) { FileLint{findings}.descriptors(file.descriptors); }

void lint_set(const Compiled& rules, const std::vector<ReplacedName>& replaced, Findings& findings) {
  lint_replaced(rules, replaced, findings);
  for (const auto& domain : rules.domains) SetLint{rules, findings}.level(domain->top, domain->name);
}

}  // namespace penstock::rules
