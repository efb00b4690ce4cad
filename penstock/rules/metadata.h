#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace penstock::rules {

// What `metadata` of a rule holds, in the types of google.protobuf.Struct (protobuf.dev, well-known types), which is
// how callers get it: numbers are doubles, keys are texts, dates are texts.
// Threading: Value.
struct Metadata {
  using List = std::vector<Metadata>;
  using Map = std::vector<std::pair<std::string, Metadata>>;  // sorted by key, each key once

  std::variant<std::nullptr_t, bool, double, std::string, List, Map> value = nullptr;

  friend bool operator==(const Metadata&, const Metadata&) = default;
};

// Adds what `from` has and `into` lacks; where both have maps under one key they merge likewise, else that of `into`
// stays. So envoyproxy/ratelimit joins the metadata of several rules. Requires: both are maps.
void merge_into(Metadata& into, const Metadata& from);

}  // namespace penstock::rules
