#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::yaml {

// Where a node begins; line and column count from 1.
struct Mark {
  int line = 0;
  int column = 0;

  friend auto operator<=>(const Mark&, const Mark&) = default;
};

enum class Kind : std::uint8_t { scalar, sequence, mapping };

struct Node;

struct Pair {
  const Node* key = nullptr;
  const Node* value = nullptr;
  bool merged = false;  // came in by a merge key
};

// A value of a YAML text. Aliases are resolved: several parents may point to one node. Merge keys are resolved as well.
// Threading: Immutable, owned by its Document.
struct Node {
  Kind kind = Kind::scalar;
  bool plain = false;    // scalar: its type follows from its text (not quoted, no block, no tag)
  bool literal = false;  // scalar: a block that keeps its lines (`|`), which begin in the line below its mark
  Mark mark;
  std::string tag;                 // "!!int" for the types of YAML itself, "!mine" as written, empty if there is none
  std::string text;                // scalar: without quotes and escapes; the bytes of !!binary
  std::vector<const Node*> items;  // sequence
  std::vector<Pair> pairs;         // mapping, in order; of equal keys the last counts
  std::size_t expanded = 1;        // nodes below and with this one, aliased ones counted wherever they appear
};

}  // namespace penstock::yaml
