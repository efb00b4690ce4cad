#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/error.h"

namespace penstock::rules {

// A text of rules that stands in the `data` of a Kubernetes ConfigMap.
struct ManifestPart {
  std::string key;
  std::string text;
  Place place;               // of the text's beginning in the manifest
  bool keeps_lines = false;  // its lines are lines of the manifest, as in a block after `|`
  int indent = 0;            // blanks before each of these
};

struct Manifest {
  std::vector<ManifestPart> parts;   // those that hold rules
  std::vector<std::string> skipped;  // "key: why" for the others
};

// The rules in the ConfigMaps of a manifest: one document, several, or a List. A value of `data` holds rules if it is a
// mapping with `domain` or `descriptors`, or if it is no YAML and its key ends as a YAML file's name does. Nothing if
// the text holds no ConfigMap, or is no YAML.
[[nodiscard]] std::optional<Manifest> read_manifest(std::string_view text, const std::string& file);

// Where a place in the text of a part is in the manifest; where the part does not keep lines, its beginning.
[[nodiscard]] Place place_in_manifest(const ManifestPart& part, const Place& place);

}  // namespace penstock::rules
