#include "penstock/rules/reader.h"

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "penstock/algorithm/limit.h"
#include "penstock/rules/field_reader.h"
#include "penstock/rules/fields.h"
#include "penstock/rules/metadata_reader.h"
#include "penstock/rules/rule.h"
#include "penstock/rules/values.h"
#include "penstock/yaml/scalar.h"

namespace penstock::rules {
namespace {

using yaml::Kind;
using yaml::Node;
using yaml::Type;

constexpr std::int64_t kMostCount = std::numeric_limits<std::uint32_t>::max();

// Where a name was refused, what is missing may be what was meant.
void break_missing(RateDraft& draft) {
  if (!draft.unit.stated) draft.unit.broken = true;
  if (!draft.requests_per_unit.stated) draft.requests_per_unit.broken = true;
}

// What `metadata` has for us: fields of the descriptor's limit, or limits in place of it.
struct Additions {
  yaml::Mark mark;
  LimitDraft limit;
  bool any_of_limit = false;
  std::optional<std::vector<LimitDraft>> rate_limits;
  yaml::Mark rate_limits_mark;
};

template <class T>
void take_stated(Stated<T>& field, const Stated<T>& ours) {
  if (ours.stated || ours.broken) field = ours;
}

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_{findings}, fields_{findings} {}

  void file(const Node& root, FileDraft& draft);

 private:
  void descriptors(const Node& list, std::vector<DescriptorDraft>& drafts);
  void descriptor(const Node& mapping, DescriptorDraft& draft);
  void rate_limit(const Node& value, std::optional<LimitDraft>& draft);
  void rate_limits(const Node& value, std::optional<std::vector<LimitDraft>>& drafts);
  void limit(const Node& mapping, Object object, LimitDraft& draft);
  void limit_field(Field field, const Node& value, LimitDraft& draft);
  void rate_field(Field field, const Node& value, RateDraft& draft);
  void peak(const Node& value, std::optional<RateDraft>& draft);
  void replaces(const Node& list, std::vector<Stated<std::string>>& names);
  void metadata(const Node& value, DescriptorDraft& draft, std::optional<Additions>& additions);
  void additions(const Node& value, std::optional<Additions>& additions);
  void apply(const Additions& additions, DescriptorDraft& draft);

  template <class Use>
  void each_mapping(const Node& list, Field field, Use use);

  [[nodiscard]] Stated<std::string> text(const Node& value, Field field) { return read_text(value, field, findings_); }
  [[nodiscard]] Stated<bool> boolean(const Node& value, Field field) { return read_boolean(value, field, findings_); }

  Findings& findings_;
  FieldReader fields_;
};

void Reader::file(const Node& root, FileDraft& draft) {
  draft.domain.mark = root.mark;
  if (is_null(root)) return;
  if (root.kind != Kind::mapping) {
    draft.domain.broken = true;
    findings_.error(root.mark,
                    fmt::format("the file is {}; accepted is a mapping with {}", show(root), fields_of(Object::file)));
    return;
  }
  const bool all_accepted = fields_.each(root, Object::file, [&](Field field, const Node& value) {
    if (field == Field::domain) draft.domain = text(value, field);
    if (field == Field::descriptors) descriptors(value, draft.descriptors);
    if (field == Field::all_or_nothing) draft.all_or_nothing = boolean(value, field);
    if (field == Field::store) draft.store = read_word(value, field, findings_);
  });
  if (!all_accepted && !draft.domain.stated) draft.domain.broken = true;
}

void Reader::descriptors(const Node& list, std::vector<DescriptorDraft>& drafts) {
  drafts.reserve(list.items.size());
  each_mapping(list, Field::descriptors, [&](const Node& item) { descriptor(item, drafts.emplace_back()); });
}

void Reader::descriptor(const Node& mapping, DescriptorDraft& draft) {
  draft.mark = mapping.mark;
  draft.key.mark = mapping.mark;
  std::optional<Additions> ours;
  const bool all_accepted = fields_.each(mapping, Object::descriptor, [&](Field field, const Node& value) {
    switch (field) {
      case Field::key: draft.key = text(value, field); break;
      case Field::value:
        draft.value = text(value, field);
        if (is_null(value)) findings_.warning(value.mark, "'value' is empty: this rule takes every value of its key");
        break;
      case Field::rate_limit: rate_limit(value, draft.rate_limit); break;
      case Field::rate_limits:
        draft.rate_limits_mark = value.mark;
        rate_limits(value, draft.rate_limits);
        break;
      case Field::shadow_mode: draft.shadow_mode = boolean(value, field); break;
      case Field::quota_mode: draft.quota_mode = boolean(value, field); break;
      case Field::detailed_metric: draft.detailed_metric = boolean(value, field); break;
      case Field::value_to_metric: draft.value_to_metric = boolean(value, field); break;
      case Field::share_threshold: draft.share_threshold = boolean(value, field); break;
      case Field::metadata: metadata(value, draft, ours); break;
      case Field::descriptors: descriptors(value, draft.descriptors); break;
      default: break;
    }
  });
  if (!all_accepted && !draft.key.stated) draft.key.broken = true;
  if (ours) apply(*ours, draft);
}

void Reader::rate_limit(const Node& value, std::optional<LimitDraft>& draft) {
  if (is_null(value)) {
    draft.reset();
    return;
  }
  if (!draft) draft.emplace().rate.mark = value.mark;
  if (value.kind == Kind::mapping) {
    limit(value, Object::rate_limit, *draft);
    return;
  }
  draft->rate.unit.broken = true;
  findings_.error(value.mark, fmt::format("'rate_limit' is {}; accepted is a mapping with {}", show(value),
                                          fields_of(Object::rate_limit)));
}

void Reader::rate_limits(const Node& value, std::optional<std::vector<LimitDraft>>& drafts) {
  drafts.reset();
  if (is_null(value)) return;
  const std::size_t size = value.items.size();
  if (value.kind == Kind::sequence && (size < 1 || size > Rule::kMaxLimits)) {
    findings_.error(value.mark,
                    fmt::format("'rate_limits' has {} limits; accepted are 1 to {}", size, Rule::kMaxLimits));
    return;
  }
  drafts.emplace();
  each_mapping(value, Field::rate_limits, [&](const Node& item) {
    LimitDraft& draft = drafts->emplace_back();
    draft.rate.mark = item.mark;
    limit(item, Object::list_item, draft);
  });
}

void Reader::limit(const Node& mapping, Object object, LimitDraft& draft) {
  const bool all_accepted =
      fields_.each(mapping, object, [&](Field field, const Node& value) { limit_field(field, value, draft); });
  if (all_accepted) return;
  break_missing(draft.rate);
  if (!draft.algorithm.stated) draft.algorithm.broken = true;
}

void Reader::limit_field(Field field, const Node& value, LimitDraft& draft) {
  switch (field) {
    case Field::unlimited: draft.unlimited = boolean(value, field); break;
    case Field::name: draft.name = text(value, field); break;
    case Field::replaces: replaces(value, draft.replaces); break;
    case Field::algorithm: draft.algorithm = text(value, field); break;
    case Field::peak: peak(value, draft.peak); break;
    case Field::max_wait: draft.max_wait = read_word(value, field, findings_); break;
    case Field::window_offset: draft.window_offset = read_word(value, field, findings_); break;
    case Field::count_refused: draft.count_refused = boolean(value, field); break;
    case Field::tier: draft.tier = read_word(value, field, findings_); break;
    case Field::store: draft.store = read_word(value, field, findings_); break;
    case Field::on_store_failure: draft.on_store_failure = read_word(value, field, findings_); break;
    default: rate_field(field, value, draft.rate); break;
  }
}

void Reader::rate_field(Field field, const Node& value, RateDraft& draft) {
  switch (field) {
    case Field::unit: draft.unit = text(value, field); break;
    case Field::requests_per_unit:
      draft.requests_per_unit = read_count(value, field, {.least = 0, .most = kMostCount}, findings_);
      break;
    case Field::unit_multiplier:
      draft.unit_multiplier =
          read_count(value, field, {.least = 1, .most = algorithm::Limit::kMaxWindowSeconds}, findings_);
      break;
    case Field::burst: draft.burst = read_count(value, field, {.least = 1, .most = kMostCount}, findings_); break;
    default: break;
  }
}

void Reader::peak(const Node& value, std::optional<RateDraft>& draft) {
  draft.reset();
  if (is_null(value)) return;
  draft.emplace().mark = value.mark;
  if (value.kind != Kind::mapping) {
    break_missing(*draft);
    findings_.error(value.mark,
                    fmt::format("'peak' is {}; accepted is a mapping with {}", show(value), fields_of(Object::peak)));
    return;
  }
  const bool all_accepted =
      fields_.each(value, Object::peak, [&](Field field, const Node& inner) { rate_field(field, inner, *draft); });
  if (!all_accepted) break_missing(*draft);
}

void Reader::replaces(const Node& list, std::vector<Stated<std::string>>& names) {
  names.clear();
  each_mapping(list, Field::replaces, [&](const Node& item) {
    Stated<std::string>& name = names.emplace_back();
    name.mark = item.mark;
    const bool all_accepted =
        fields_.each(item, Object::replaced, [&](Field field, const Node& value) { name = text(value, field); });
    if (!all_accepted && !name.stated) name.broken = true;
  });
}

void Reader::metadata(const Node& value, DescriptorDraft& draft, std::optional<Additions>& ours) {
  draft.metadata = nullptr;
  ours.reset();
  if (is_null(value)) return;
  if (value.kind != Kind::mapping) {
    findings_.error(value.mark, fmt::format("'metadata' is {}; accepted is a mapping", show(value)));
    return;
  }
  draft.metadata = read_metadata(value, findings_);
  if (const Node* node = find_additions(value)) additions(*node, ours);
}

void Reader::additions(const Node& value, std::optional<Additions>& ours) {
  if (is_null(value)) return;
  if (value.kind != Kind::mapping) {
    findings_.error(value.mark, fmt::format("{} is {}; accepted is a mapping with {}", describe(Object::additions),
                                            show(value), fields_of(Object::additions)));
    return;
  }
  ours.emplace().mark = value.mark;
  fields_.each(value, Object::additions, [&](Field field, const Node& inner) {
    if (field == Field::rate_limits) {
      ours->rate_limits_mark = inner.mark;
      rate_limits(inner, ours->rate_limits);
      return;
    }
    ours->any_of_limit = true;
    limit_field(field, inner, ours->limit);
  });
}

void Reader::apply(const Additions& ours, DescriptorDraft& draft) {
  if (ours.rate_limits) {
    draft.rate_limits = ours.rate_limits;
    draft.rate_limits_mark = ours.rate_limits_mark;
    draft.rate_limits_replace = true;
  }
  if (!ours.any_of_limit) return;
  if (!draft.rate_limit || draft.rate_limits) {
    findings_.error(ours.mark,
                    fmt::format("{} has fields of a limit, but the descriptor has {}; accepted are they "
                                "beside a 'rate_limit'",
                                describe(Object::additions), draft.rate_limits ? "'rate_limits'" : "no 'rate_limit'"));
    return;
  }
  LimitDraft& limit = *draft.rate_limit;
  take_stated(limit.rate.unit_multiplier, ours.limit.rate.unit_multiplier);
  take_stated(limit.rate.burst, ours.limit.rate.burst);
  take_stated(limit.algorithm, ours.limit.algorithm);
  if (ours.limit.peak) limit.peak = ours.limit.peak;
  take_stated(limit.max_wait, ours.limit.max_wait);
  take_stated(limit.window_offset, ours.limit.window_offset);
  take_stated(limit.count_refused, ours.limit.count_refused);
  take_stated(limit.tier, ours.limit.tier);
  take_stated(limit.store, ours.limit.store);
  take_stated(limit.on_store_failure, ours.limit.on_store_failure);
}

template <class Use>
void Reader::each_mapping(const Node& list, Field field, Use use) {
  if (is_null(list)) return;
  if (list.kind != Kind::sequence) {
    findings_.error(list.mark, fmt::format("'{}' is {}; accepted is a list of mappings", to_string(field), show(list)));
    return;
  }
  for (const Node* item : list.items) {
    if (item->kind == Kind::mapping) {
      use(*item);
    } else {
      findings_.error(item->mark, fmt::format("{} in '{}'; accepted are mappings", show(*item), to_string(field)));
    }
  }
}

}  // namespace

FileDraft read_file(const yaml::Node* root, Findings& findings) {
  FileDraft draft;
  draft.domain.mark = {.line = 1, .column = 1};
  if (root != nullptr) Reader{findings}.file(*root, draft);
  return draft;
}

}  // namespace penstock::rules
