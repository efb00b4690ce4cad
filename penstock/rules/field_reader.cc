#include "penstock/rules/field_reader.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "penstock/rules/values.h"
#include "penstock/yaml/scalar.h"

namespace penstock::rules {

using yaml::Kind;
using yaml::Node;
using yaml::Type;

void FieldReader::given_twice(const Node& key, int winner_line, Field field) {
  const std::string_view effect =
      field == Field::rate_limit ? "adds to it, and counts where both say the same" : "counts";
  findings_.warning(key.mark, fmt::format("'{}' is given twice; the later one, in line {}, {}", to_string(field),
                                          winner_line, effect));
}

FieldReader::Name FieldReader::name_of(const Node& key, const Node& value, Object object) {
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

void FieldReader::unknown_field(const Node& key, Object object) {
  if (findings_.full()) return;
  if (object == Object::file && (key.text == "apiVersion" || key.text == "tests")) {
    const std::string_view what = key.text == "tests" ? "a file of tests, for `penstock test`, not one of rules"
                                                      : "a Kubernetes manifest: `penstock check` reads the ConfigMaps "
                                                        "in it, `penstock serve` the files that they are mounted as";
    findings_.error(key.mark, fmt::format("unknown field {}: this is {}", in_quotes(key.text), what));
    return;
  }
  const std::optional<std::string_view> meant = nearest_field(key.text, object);
  const std::string hint = meant ? fmt::format("; did you mean '{}'?", *meant) : ";";
  findings_.error(key.mark, fmt::format("unknown field {} in {}{} accepted: {}", in_quotes(key.text), describe(object),
                                        hint, fields_of(object)));
}

// A known field of the original in a wrong place loads there and does nothing; so it does here, but not in what the
// original does not load anyway.
bool FieldReader::misplaced_field(const Node& key, const Node& value, Field field, Object object) {
  const std::string message =
      fmt::format("'{}' has no place in {}; it belongs in {}", to_string(field), describe(object), homes_of(field));
  const bool known_to_original = object != Object::list_item && object != Object::peak && object != Object::additions;
  if (is_ours(field) || !known_to_original) {
    findings_.error(key.mark, message);
    return false;
  }
  findings_.warning(key.mark, message + ", and is ignored here");
  if (field != Field::metadata) ignored(value);
  return true;
}

// What the original checks even where it ignores the result: names of fields, no fractions, lists of mappings only.
void FieldReader::ignored(const Node& node) {
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

}  // namespace penstock::rules
