#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>

#include "penstock/rules/fields.h"
#include "penstock/rules/findings.h"
#include "penstock/yaml/node.h"

namespace penstock::rules {

// Reads the names of a mapping's fields by the conditions of envoyproxy/ratelimit. What is no field, or has no place in
// the object, goes to the findings.
class FieldReader {
 public:
  explicit FieldReader(Findings& findings) : findings_{findings} {}

  // Calls `use(field, value)` for each field that belongs to the object. Of a field that is given twice only the last
  // one counts, but for `rate_limit`, whose parts add up as in envoyproxy/ratelimit. False if a name was refused: then
  // that a field is missing need not be said as well.
  template <class Use>
  bool each(const yaml::Node& mapping, Object object, Use use);

 private:
  struct Name {
    std::optional<Field> field{};  // none: unknown, or ignored here
    bool refused = false;
  };

  [[nodiscard]] Name name_of(const yaml::Node& key, const yaml::Node& value, Object object);
  void given_twice(const yaml::Node& key, int winner_line, Field field);
  void unknown_field(const yaml::Node& key, Object object);
  bool misplaced_field(const yaml::Node& key, const yaml::Node& value, Field field, Object object);
  void ignored(const yaml::Node& node);

  Findings& findings_;
};

template <class Use>
bool FieldReader::each(const yaml::Node& mapping, Object object, Use use) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::array<std::size_t, kFieldCount> last;
  last.fill(kNone);
  for (std::size_t i = 0; i < mapping.pairs.size(); ++i) {
    const yaml::Node& key = *mapping.pairs[i].key;
    const std::optional<Field> field = key.kind == yaml::Kind::scalar ? field_named(key.text) : std::nullopt;
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

}  // namespace penstock::rules
