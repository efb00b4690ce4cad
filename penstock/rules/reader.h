#pragma once

#include "penstock/rules/draft.h"
#include "penstock/rules/findings.h"
#include "penstock/yaml/node.h"

namespace penstock::rules {

// Reads one rule file: names and types of all fields, by the conditions of envoyproxy/ratelimit, and no relation
// between fields. Goes on after an error. A null root is an empty file.
[[nodiscard]] FileDraft read_file(const yaml::Node* root, Findings& findings);

}  // namespace penstock::rules
