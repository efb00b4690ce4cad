#include "penstock/rules/reader.h"

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "penstock/algorithm/limit.h"
#include "penstock/rules/fields.h"
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

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_{findings} {}

  void file(const Node& root, FileDraft& draft);

 private:
  struct Name {
    std::optional<Field> field{};  // none: unknown, or ignored here
    bool refused = false;
  };

  // Calls `use(field, value)` for each field that belongs to the object. Of a field that is given twice only the last
  // one counts, but for `rate_limit`, whose parts add up as in envoyproxy/ratelimit. False if a name was refused: then
  // that a field is missing need not be said as well.
  template <class Use>
  bool each_field(const Node& mapping, Object object, Use use);
  [[nodiscard]] Name name_of(const Node& key, const Node& value, Object object);
  void given_twice(const Node& key, int winner_line, Field field);
  void unknown_field(const Node& key, Object object);
  bool misplaced_field(const Node& key, const Node& value, Field field, Object object);
  void ignored(const Node& node);

  void descriptors(const Node& list, std::vector<DescriptorDraft>& drafts);
  void descriptor(const Node& mapping, DescriptorDraft& draft);
  void rate_limit(const Node& value, std::optional<LimitDraft>& draft);
  void rate_limits(const Node& value, std::optional<std::vector<LimitDraft>>& drafts);
  void limit(const Node& mapping, Object object, LimitDraft& draft);
  void rate_field(Field field, const Node& value, RateDraft& draft);
  void peak(const Node& value, std::optional<RateDraft>& draft);
  void replaces(const Node& list, std::vector<Stated<std::string>>& names);
  void metadata(const Node& value);

  template <class Use>
  void each_mapping(const Node& list, Field field, Use use);

  [[nodiscard]] Stated<std::string> text(const Node& value, Field field) { return read_text(value, field, findings_); }
  [[nodiscard]] Stated<bool> boolean(const Node& value, Field field) { return read_boolean(value, field, findings_); }

  Findings& findings_;
};

template <class Use>
bool Reader::each_field(const Node& mapping, Object object, Use use) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::array<std::size_t, kFieldCount> last;
  last.fill(kNone);
  for (std::size_t i = 0; i < mapping.pairs.size(); ++i) {
    const Node& key = *mapping.pairs[i].key;
    const std::optional<Field> field = key.kind == Kind::scalar ? field_named(key.text) : std::nullopt;
    if (field) last[static_cast<std::size_t>(*field)] = i;
  }
  bool all_accepted = true;
  for (std::size_t i = 0; i < mapping.pairs.size(); ++i) {
    const yaml::Pair& pair = mapping.pairs[i];
    const Name name = name_of(*pair.key, *pair.value, object);
    all_accepted = all_accepted && !name.refused;
    const std::optional<Field> field = name.field;
    if (!field) continue;
    const std::size_t winner = last[static_cast<std::size_t>(*field)];
    if (winner == i || *field == Field::rate_limit) use(*field, *pair.value);
    if (winner != i && !pair.merged) given_twice(*pair.key, mapping.pairs[winner].key->mark.line, *field);
  }
  return all_accepted;
}

void Reader::given_twice(const Node& key, int winner_line, Field field) {
  const std::string_view effect =
      field == Field::rate_limit ? "adds to it, and counts where both say the same" : "counts";
  findings_.warning(key.mark, fmt::format("'{}' is given twice; the later one, in line {}, {}", to_string(field),
                                          winner_line, effect));
}

Reader::Name Reader::name_of(const Node& key, const Node& value, Object object) {
  if (key.kind != Kind::scalar || yaml::resolve(key).type != Type::text) {
    findings_.error(key.mark, fmt::format("the name of a field is {}; accepted in {}: {}", show(key), describe(object),
                                          fields_of(object)));
    return {.refused = true};
  }
  const std::optional<Field> field = field_named(key.text);
  if (!field) {
    unknown_field(key, object);
    return {.refused = true};
  }
  if (belongs(*field, object)) return {.field = field};
  return {.refused = !misplaced_field(key, value, *field, object)};
}

void Reader::unknown_field(const Node& key, Object object) {
  if (findings_.full()) return;
  const std::optional<std::string_view> meant = nearest_field(key.text, object);
  const std::string hint = meant ? fmt::format("; did you mean '{}'?", *meant) : ";";
  findings_.error(key.mark, fmt::format("unknown field {} in {}{} accepted: {}", in_quotes(key.text), describe(object),
                                        hint, fields_of(object)));
}

// A known field of the original in a wrong place loads there and does nothing; so it does here, but not in what the
// original does not load anyway.
bool Reader::misplaced_field(const Node& key, const Node& value, Field field, Object object) {
  const std::string message =
      fmt::format("'{}' has no place in {}; it belongs in {}", to_string(field), describe(object), homes_of(field));
  if (is_ours(field) || object == Object::list_item || object == Object::peak) {
    findings_.error(key.mark, message);
    return false;
  }
  findings_.warning(key.mark, message + ", and is ignored here");
  if (field != Field::metadata) ignored(value);
  return true;
}

// What the original checks even where it ignores the result: names of fields, no fractions, lists of mappings only.
void Reader::ignored(const Node& node) {
  if (node.kind == Kind::scalar) {
    if (yaml::resolve(node).type == Type::other_number) {
      findings_.error(node.mark,
                      fmt::format("{}; accepted is a text, an integer or a boolean (quotes make a text)", show(node)));
    }
    return;
  }
  for (const Node* item : node.items) {
    if (item->kind == Kind::mapping) {
      ignored(*item);
    } else {
      findings_.error(item->mark, fmt::format("{} in a list; accepted are mappings", show(*item)));
    }
  }
  for (const yaml::Pair& pair : node.pairs) {
    const Node& key = *pair.key;
    const bool is_name = key.kind == Kind::scalar && yaml::resolve(key).type == Type::text;
    const std::optional<Field> field = is_name ? field_named(key.text) : std::nullopt;
    if (!field || is_ours(*field)) {
      findings_.error(key.mark, fmt::format("unknown field {} in what is ignored", show(key)));
    } else if (*field != Field::metadata) {
      ignored(*pair.value);
    }
  }
}

void Reader::file(const Node& root, FileDraft& draft) {
  draft.domain.mark = root.mark;
  if (is_null(root)) return;
  if (root.kind != Kind::mapping) {
    draft.domain.broken = true;
    findings_.error(root.mark,
                    fmt::format("the file is {}; accepted is a mapping with {}", show(root), fields_of(Object::file)));
    return;
  }
  const bool all_accepted = each_field(root, Object::file, [&](Field field, const Node& value) {
    if (field == Field::domain) draft.domain = text(value, field);
    if (field == Field::descriptors) descriptors(value, draft.descriptors);
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
  const bool all_accepted = each_field(mapping, Object::descriptor, [&](Field field, const Node& value) {
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
      case Field::metadata: metadata(value); break;
      case Field::descriptors: descriptors(value, draft.descriptors); break;
      default: break;
    }
  });
  if (!all_accepted && !draft.key.stated) draft.key.broken = true;
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
  const bool all_accepted = each_field(mapping, object, [&](Field field, const Node& value) {
    switch (field) {
      case Field::unlimited: draft.unlimited = boolean(value, field); break;
      case Field::name: draft.name = text(value, field); break;
      case Field::replaces: replaces(value, draft.replaces); break;
      case Field::algorithm: draft.algorithm = text(value, field); break;
      case Field::peak: peak(value, draft.peak); break;
      case Field::max_wait: draft.max_wait = read_word(value, field, findings_); break;
      case Field::window_offset: draft.window_offset = read_word(value, field, findings_); break;
      case Field::count_refused: draft.count_refused = boolean(value, field); break;
      default: rate_field(field, value, draft.rate); break;
    }
  });
  if (all_accepted) return;
  break_missing(draft.rate);
  if (!draft.algorithm.stated) draft.algorithm.broken = true;
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
      each_field(value, Object::peak, [&](Field field, const Node& inner) { rate_field(field, inner, *draft); });
  if (!all_accepted) break_missing(*draft);
}

void Reader::replaces(const Node& list, std::vector<Stated<std::string>>& names) {
  names.clear();
  each_mapping(list, Field::replaces, [&](const Node& item) {
    Stated<std::string>& name = names.emplace_back();
    name.mark = item.mark;
    const bool all_accepted =
        each_field(item, Object::replaced, [&](Field field, const Node& value) { name = text(value, field); });
    if (!all_accepted && !name.stated) name.broken = true;
  });
}

// Its content goes to callers that understand it; here it only has to be a mapping.
void Reader::metadata(const Node& value) {
  if (value.kind == Kind::mapping || is_null(value)) return;
  findings_.error(value.mark, fmt::format("'metadata' is {}; accepted is a mapping", show(value)));
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
