#include "penstock/rules/difference.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/rules/description.h"
#include "penstock/rules/tree.h"

namespace penstock::rules {
namespace {

std::string limits_of(const Rule& rule) {
  if (rule.unlimited) return "unlimited";
  return fmt::format("{}", fmt::join(rule.limit_texts, " and "));
}

double rate_of(const RuleLimit& limit) {
  return static_cast<double>(limit.requests_per_unit) / static_cast<double>(limit.limit.window_seconds());
}

bool refuses_all(const Rule& rule) {
  return std::ranges::any_of(rule.limits, [](const RuleLimit& limit) { return limit.limit.capacity() == 0; });
}

// "x2.5 of the rate"; empty where it stays.
std::string factor_text(double before, double after, std::string_view what) {
  if (before == after || before == 0 || after == 0) return "";
  const double factor = after / before;
  if (factor > 1) return fmt::format("{:.3g} times the {}", factor, what);
  return fmt::format("1/{:.3g} of the {}", 1 / factor, what);
}

bool is_tenfold(double before, double after) {
  if (before == 0 || after == 0) return before != after;
  const double factor = after / before;
  return factor >= kShoutFactor || factor <= 1 / kShoutFactor;
}

// Whether counters of the one are read by the other.
bool keeps_counters(const RuleLimit& a, const RuleLimit& b) {
  if (a.limit.algorithm() != b.limit.algorithm() || a.rank != b.rank) return false;
  if (a.tier != b.tier || a.store != b.store) return false;
  return !a.limit.is_window() || (a.limit.window_seconds() == b.limit.window_seconds() &&
                                  a.limit.spreads_windows() == b.limit.spreads_windows());
}

class Comparison {
 public:
  [[nodiscard]] std::vector<Change> take() { return std::move(changes_); }

  void levels(const Level& before, const Level& after, const std::string& path, const Compiled& old_set,
              const Compiled& new_set) {
    old_set_ = &old_set;
    new_set_ = &new_set;
    walk(before, after, path);
  }

  void add(ChangeKind kind, std::string path, std::string text, bool shout, Place place) {
    changes_.push_back(
        {.kind = kind, .path = std::move(path), .text = std::move(text), .shout = shout, .place = std::move(place)});
  }

 private:
  void walk(const Level& before, const Level& after, const std::string& path) {
    for (const std::unique_ptr<Node>& node : before.nodes()) {
      const Node* const match = after.find_text(node->text);
      const std::string below = path + "." + node->text;
      if (match == nullptr) {
        gone(*node, below);
      } else {
        nodes(*node, *match, below);
      }
    }
    for (const std::unique_ptr<Node>& node : after.nodes()) {
      if (before.find_text(node->text) == nullptr) fresh(*node, path + "." + node->text);
    }
    order(before, after, path);
  }

  [[nodiscard]] Place place(const Node& node, const Compiled& set) const {
    return {.file = set.sources[node.source], .line = node.line, .column = node.column};
  }

  void gone(const Node& node, const std::string& path) {
    if (node.rule != nullptr) {
      const bool limited = !node.rule->unlimited;
      add(ChangeKind::removed, path,
          fmt::format("was {}; what is left may match what it took, else that is not limited any more",
                      limits_of(*node.rule)),
          limited && !node.rule->shadow_mode, place(node, *old_set_));
    } else if (node.children.empty()) {
      add(ChangeKind::removed, path, "let everything pass that it matched; what is left may limit that now", false,
          place(node, *old_set_));
    }
    for (const std::unique_ptr<Node>& child : node.children.nodes()) gone(*child, path + "." + child->text);
  }

  void fresh(const Node& node, const std::string& path) {
    if (node.rule != nullptr) {
      add(ChangeKind::added, path, limits_of(*node.rule) + modes_of(*node.rule), refuses_all(*node.rule),
          place(node, *new_set_));
    } else if (node.children.empty()) {
      add(ChangeKind::added, path, "lets everything pass that it matches", false, place(node, *new_set_));
    }
    for (const std::unique_ptr<Node>& child : node.children.nodes()) fresh(*child, path + "." + child->text);
  }

  static std::string modes_of(const Rule& rule) {
    return fmt::format("{}{}", rule.shadow_mode ? ", shadow_mode" : "", rule.quota_mode ? ", quota_mode" : "");
  }

  void nodes(const Node& before, const Node& after, const std::string& path) {
    const Place where = place(after, *new_set_);
    if (before.rule != nullptr && after.rule != nullptr) {
      rules(*before.rule, *after.rule, path, where);
    } else if (before.rule != nullptr) {
      add(ChangeKind::removed, path, fmt::format("was {}; carries no limit any more", limits_of(*before.rule)),
          !before.rule->unlimited, where);
    } else if (after.rule != nullptr) {
      add(ChangeKind::added, path, fmt::format("carried no limit, now {}", limits_of(*after.rule)),
          refuses_all(*after.rule), where);
    }
    if (before.share_threshold != after.share_threshold) {
      add(ChangeKind::changed, path,
          after.share_threshold ? "all values share one counter now; counters begin anew"
                                : "each value has a counter of its own now; counters begin anew",
          true, where);
    }
    if (before.value_to_metric != after.value_to_metric) {
      add(ChangeKind::changed, path, "statistics change their names (value_to_metric)", false, where);
    }
    walk(before.children, after.children, path);
  }

  void rules(const Rule& before, const Rule& after, const std::string& path, const Place& where) {
    const auto changed = [&](std::string text, bool shout) {
      add(ChangeKind::changed, path, std::move(text), shout, where);
    };
    limits(before, after, changed);
    if (before.shadow_mode != after.shadow_mode) {
      changed(after.shadow_mode ? "refuses nothing any more (shadow_mode)" : "refuses now (no shadow_mode any more)",
              true);
    }
    if (before.quota_mode != after.quota_mode) {
      changed(after.quota_mode ? "refuses only where all quota rules of a request are over (quota_mode)"
                               : "refuses by itself (no quota_mode any more)",
              false);
    }
    if (before.name != after.name) changed(fmt::format("its name is '{}', was '{}'", after.name, before.name), false);
    if (before.replaces != after.replaces) {
      changed(fmt::format("replaces {}, was {}", names(after.replaces), names(before.replaces)), false);
    }
    if (before.detailed_metric != after.detailed_metric)
      changed("statistics change their names (detailed_metric)", false);
    const bool same_metadata =
        before.metadata == after.metadata || (before.metadata && after.metadata && *before.metadata == *after.metadata);
    if (!same_metadata) changed("metadata for callers changes", false);
  }

  static std::string names(const std::vector<std::string>& names) {
    return names.empty() ? "nothing" : fmt::format("'{}'", fmt::join(names, "', '"));
  }

  template <class Changed>
  static void limits(const Rule& before, const Rule& after, const Changed& changed) {
    if (before.unlimited != after.unlimited) {
      changed(fmt::format("{} -> {}", limits_of(before), limits_of(after)), true);
      return;
    }
    if (before.limits.size() != after.limits.size()) {
      changed(fmt::format("{} -> {}", limits_of(before), limits_of(after)), false);
      return;
    }
    for (std::size_t i = 0; i < before.limits.size(); ++i) {
      if (before.limit_texts[i] == after.limit_texts[i] && before.limits[i].limit == after.limits[i].limit) continue;
      limit(before.limits[i], after.limits[i], changed);
    }
  }

  template <class Changed>
  static void limit(const RuleLimit& before, const RuleLimit& after, const Changed& changed) {
    const double old_rate = rate_of(before), new_rate = rate_of(after);
    const double old_burst = before.limit.capacity(), new_burst = after.limit.capacity();
    std::vector<std::string> remarks;
    const auto remark = [&](std::string text) {
      if (!text.empty()) remarks.push_back(std::move(text));
    };
    remark(factor_text(old_rate, new_rate, "rate"));
    if (after.limit.is_bucket() || before.limit.is_bucket()) remark(factor_text(old_burst, new_burst, "burst"));
    if (new_burst == 0 && old_burst != 0) remark("refuses everything now");
    if (new_burst != 0 && old_burst == 0) remark("refused everything before");
    if (remarks.empty() && old_rate == new_rate) remark("the same rate");
    remark(keeps_counters(before, after) ? "" : "counters begin anew");
    const bool shout = is_tenfold(old_rate, new_rate) || is_tenfold(old_burst, new_burst);
    changed(fmt::format("{} -> {} ({})", describe_limit(before), describe_limit(after), fmt::join(remarks, ", ")),
            shout);
  }

  // Patterns that both have, in another order.
  void order(const Level& before, const Level& after, const std::string& path) {
    std::vector<std::string_view> was, is;
    for (const std::unique_ptr<Node>& node : before.nodes()) {
      if (node->has_star() && after.find_text(node->text) != nullptr) was.push_back(node->text);
    }
    for (const std::unique_ptr<Node>& node : after.nodes()) {
      if (node->has_star() && before.find_text(node->text) != nullptr) is.push_back(node->text);
    }
    const auto first = std::ranges::mismatch(was, is);
    if (first.in1 == was.end()) return;
    add(ChangeKind::changed, path,
        fmt::format("wildcards change their order from '{}' on: what several of them match may get another limit",
                    *first.in2),
        false, place(*after.find_text(*first.in2), *new_set_));
  }

  std::vector<Change> changes_;
  const Compiled* old_set_ = nullptr;
  const Compiled* new_set_ = nullptr;
};

Place place_of(const RuleSet::Domain& domain, const Compiled& set) {
  return {.file = set.sources[domain.source], .line = domain.line, .column = domain.column};
}

}  // namespace

std::string_view to_string(ChangeKind kind) noexcept {
  switch (kind) {
    case ChangeKind::added: return "added";
    case ChangeKind::removed: return "removed";
    case ChangeKind::changed: return "changed";
  }
  return "";
}

std::vector<Change> compare(const RuleSet& before, const RuleSet& after) {
  static const Level kNothing;
  const Compiled& old_set = before.compiled();
  const Compiled& new_set = after.compiled();
  Comparison comparison;
  for (const auto& domain : old_set.domains) {
    const RuleSet::Domain* const match = after.domain(domain->name);
    if (match == nullptr) {
      comparison.add(ChangeKind::removed, domain->name, "the domain has no rules any more: nothing in it is limited",
                     true, place_of(*domain, old_set));
    } else if (match->all_or_nothing != domain->all_or_nothing) {
      comparison.add(ChangeKind::changed, domain->name,
                     match->all_or_nothing ? "limits of one request are charged all or none (all_or_nothing)"
                                           : "limits of one request are charged singly (no all_or_nothing any more)",
                     false, place_of(*match, new_set));
    }
    comparison.levels(domain->top, match == nullptr ? kNothing : match->top, domain->name, old_set, new_set);
  }
  for (const auto& domain : new_set.domains) {
    if (before.domain(domain->name) != nullptr) continue;
    comparison.add(ChangeKind::added, domain->name, "a domain", false, place_of(*domain, new_set));
    comparison.levels(kNothing, domain->top, domain->name, old_set, new_set);
  }
  return comparison.take();
}

}  // namespace penstock::rules
