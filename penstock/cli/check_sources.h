#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/rules/manifest.h"
#include "penstock/rules/rule_set.h"

namespace penstock::cli {

// Rule files as `penstock check` reads them: also out of the ConfigMaps of Kubernetes manifests.
struct CheckedRules {
  std::shared_ptr<const rules::RuleSet> rules;  // null where there are errors
  std::vector<std::string> files;
  std::vector<Error> errors;
  std::vector<Error> warnings;
  std::vector<std::string> notes;                    // what was skipped, and why
  std::map<std::string, rules::ManifestPart> parts;  // of manifests, by the name of their source

  // Where a place in a source is in its file.
  [[nodiscard]] Place in_file(const Place& place) const;
};

[[nodiscard]] CheckedRules check_sources(const std::vector<std::string>& paths, bool merge_domains);

// Prints errors and warnings to standard error, one a line as editors know it: "file:line:column: error: ...".
void print_findings(const CheckedRules& checked);

}  // namespace penstock::cli
