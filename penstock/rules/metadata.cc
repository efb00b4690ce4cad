#include "penstock/rules/metadata.h"

#include <algorithm>

#include "penstock/base/check.h"

namespace penstock::rules {

void merge_into(Metadata& into, const Metadata& from) {
  auto* const target = std::get_if<Metadata::Map>(&into.value);
  const auto* const source = std::get_if<Metadata::Map>(&from.value);
  PENSTOCK_CHECK(target != nullptr && source != nullptr);
  for (const auto& [key, value] : *source) {
    const auto at = std::ranges::lower_bound(*target, key, {}, &Metadata::Map::value_type::first);
    if (at == target->end() || at->first != key) {
      target->insert(at, {key, value});
      continue;
    }
    const bool both_maps =
        std::holds_alternative<Metadata::Map>(at->second.value) && std::holds_alternative<Metadata::Map>(value.value);
    if (both_maps) merge_into(at->second, value);
  }
}

}  // namespace penstock::rules
