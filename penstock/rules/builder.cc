#include "penstock/rules/builder.h"

#include <utility>

#include <fmt/format.h>

#include "penstock/rules/description.h"
#include "penstock/rules/label.h"
#include "penstock/rules/limit_maker.h"

namespace penstock::rules {

Builder::Builder(const LoadOptions& options, Findings& findings) : options_{options}, findings_{findings} {}

void Builder::add(const FileDraft& file) {
  compiled_->sources.push_back(findings_.source());
  if (file.domain.value.empty() && !file.domain.broken) {
    findings_.error(file.domain.mark, "no domain; accepted is a text that is not empty");
  }
  RuleSet::Domain& into = domain(file.domain);
  all_or_nothing(file.all_or_nothing, into);
  store(file.store, into);
  for (const DescriptorDraft& draft : file.descriptors) {
    descriptor(draft, {.domain = into.name, .path = into.name, .label = into.name}, into.top);
  }
}

void Builder::all_or_nothing(const Stated<bool>& stated, RuleSet::Domain& domain) {
  if (!stated.stated) return;
  if (domain.all_or_nothing_place && domain.all_or_nothing != stated.value) {
    findings_.error(stated.mark,
                    fmt::format("'all_or_nothing' is {} for domain {}, and {} in {}; accepted is one of the "
                                "two in all files of a domain",
                                stated.value, in_quotes(domain.name), domain.all_or_nothing,
                                to_string(*domain.all_or_nothing_place)));
    return;
  }
  domain.all_or_nothing = stated.value;
  domain.all_or_nothing_place = findings_.place(stated.mark);
}

void Builder::store(const Stated<std::string>& stated, RuleSet::Domain& domain) {
  file_store_ = stated.value;
  if (check_store_name(stated, stores(), findings_) && domain.store.empty()) domain.store = stated.value;
}

std::unique_ptr<const Compiled> Builder::take() {
  for (const std::unique_ptr<RuleSet::Domain>& each : compiled_->domains) each->top.finish();
  lint_set(*compiled_, replaced_, findings_);
  return std::move(compiled_);
}

RuleSet::Domain& Builder::domain(const Stated<std::string>& name) {
  const auto known = compiled_->by_name.find(name.value);
  if (known != compiled_->by_name.end() && !name.value.empty()) {
    RuleSet::Domain& first = *known->second;
    if (options_.merge_domains) return first;
    findings_.error(name.mark, fmt::format("domain {} again; it began in {}, and files of one domain are taken "
                                           "together only with --merge-domains (MERGE_DOMAIN_CONFIG=true)",
                                           in_quotes(name.value),
                                           place_of(first.source, {.line = first.line, .column = first.column})));
  }
  RuleSet::Domain& added = *compiled_->domains.emplace_back(std::make_unique<RuleSet::Domain>());
  added.name = name.value;
  added.source = static_cast<std::uint32_t>(compiled_->sources.size() - 1);
  added.line = name.mark.line;
  added.column = name.mark.column;
  compiled_->by_name.emplace(added.name, &added);
  return added;
}

void Builder::descriptor(const DescriptorDraft& draft, const Parent& parent, Level& level) {
  auto node = std::make_unique<Node>();
  node->text = draft.key.value;
  if (!draft.value.value.empty()) node->text += "_" + draft.value.value;
  node->is_key_alone = draft.value.value.empty();
  node->share_threshold = draft.share_threshold.value;
  node->value_to_metric = draft.value_to_metric.value;
  const std::string path = fmt::format("{}.{}", parent.path, node->text);
  const std::string label = fmt::format("{}.{}", parent.label, label_of(draft.key.value, draft.value.value));
  node->rule = rule(draft, {.domain = parent.domain, .path = path, .label = label});
  check_flags(draft, *node);
  for (const DescriptorDraft& child : draft.descriptors) {
    descriptor(child, {.domain = parent.domain, .path = path, .label = label}, node->children);
  }

  if (!draft.key.value.empty()) {
    insert(std::move(node), path, draft.key.mark, level);
  } else if (!draft.key.broken) {
    findings_.error(draft.key.mark, "a descriptor without 'key'; accepted is a text that is not empty");
  }
}

void Builder::insert(std::unique_ptr<Node> node, const std::string& path, yaml::Mark mark, Level& level) {
  const Node* const first = level.find_text(node->text);
  if (first != nullptr) {
    findings_.error(mark,
                    fmt::format("descriptor {} again, as in {} (key and value are read joined by '_')", in_quotes(path),
                                place_of(first->source, {.line = first->line, .column = first->column})));
    return;
  }
  node->source = static_cast<std::uint32_t>(compiled_->sources.size() - 1);
  node->line = mark.line;
  node->column = mark.column;
  level.add(std::move(node));
}

const Rule* Builder::rule(const DescriptorDraft& draft, const Parent& place) {
  if (draft.rate_limit && draft.rate_limits && !draft.rate_limits_replace) {
    findings_.error(draft.rate_limits_mark, "'rate_limits' beside 'rate_limit'; accepted is one of the two");
  }
  if (!draft.rate_limit && !draft.rate_limits) return nullptr;
  auto rule = std::make_unique<Rule>();
  rule->index = static_cast<std::uint32_t>(compiled_->rules.size());
  rule->domain = place.domain;
  rule->path = place.path;
  rule->label = place.label;
  rule->shadow_mode = draft.shadow_mode.value;
  rule->quota_mode = draft.quota_mode.value;
  rule->detailed_metric = draft.detailed_metric.value;
  rule->place = findings_.place(draft.key.mark);
  rule->metadata = draft.metadata;
  limits(draft, *rule);
  for (const RuleLimit& limit : rule->limits) rule->limit_texts.push_back(describe_limit(limit));
  return compiled_->rules.emplace_back(std::move(rule)).get();
}

// A list under `metadata` replaces what limits, not what the rule is called by others.
void Builder::limits(const DescriptorDraft& draft, Rule& rule) {
  if (draft.rate_limit) names(*draft.rate_limit, rule);
  if (draft.rate_limits) {
    rule.limits = make_limits(*draft.rate_limits, stores(), findings_);
  } else if (draft.rate_limit) {
    single_limit(*draft.rate_limit, rule);
  }
}

void Builder::single_limit(const LimitDraft& draft, Rule& rule) {
  rule.unlimited = draft.unlimited.value;
  if (rule.unlimited) {
    check_unlimited(draft, findings_);
  } else if (!draft.unlimited.broken) {
    const std::optional<RuleLimit> limit = make_limit(draft, stores(), findings_);
    if (limit) rule.limits.push_back(*limit);
  }
}

void Builder::names(const LimitDraft& draft, Rule& rule) {
  rule.name = draft.name.value;
  for (const Stated<std::string>& name : draft.replaces) {
    if (name.value.empty() && !name.broken) {
      findings_.error(name.mark, "an item of 'replaces' without 'name'; accepted is the name of another limit");
    } else if (name.value == rule.name && !name.broken) {
      findings_.error(name.mark,
                      fmt::format("{} replaces itself; accepted is the name of another limit", in_quotes(name.value)));
    }
    rule.replaces.push_back(name.value);
    replaced_.push_back({.domain = rule.domain, .name = name.value, .place = findings_.place(name.mark)});
  }
}

void Builder::check_flags(const DescriptorDraft& draft, const Node& node) {
  if (node.share_threshold && !node.has_star()) {
    findings_.error(draft.share_threshold.mark,
                    fmt::format("'share_threshold' on {}, which stands for one value; accepted where key or value has "
                                "a '*'",
                                in_quotes(node.text)));
  }
  if (draft.key.value.find('*') != std::string::npos) {
    findings_.warning(draft.key.mark, fmt::format("key {} has a star: it is compared with key and value joined by "
                                                  "'_', and may take entries with other keys",
                                                  in_quotes(draft.key.value)));
  }
  if (node.rule != nullptr) return;
  const auto needs_limit = [&](const Stated<bool>& flag, std::string_view name) {
    if (flag.value)
      findings_.warning(flag.mark, fmt::format("'{}' does nothing on a descriptor without a limit", name));
  };
  needs_limit(draft.shadow_mode, "shadow_mode");
  needs_limit(draft.quota_mode, "quota_mode");
  needs_limit(draft.detailed_metric, "detailed_metric");
}

std::string Builder::place_of(std::uint32_t source, yaml::Mark mark) const {
  return to_string(Place{.file = compiled_->sources[source], .line = mark.line, .column = mark.column});
}

}  // namespace penstock::rules
