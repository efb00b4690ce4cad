#pragma once

#include <cstddef>
#include <memory>

#include "penstock/rules/findings.h"
#include "penstock/rules/metadata.h"
#include "penstock/yaml/node.h"

namespace penstock::rules {

inline constexpr std::size_t kMaxMetadataValues = 1'000;           // of one rule
inline constexpr std::size_t kMaxMetadataTextBytes = 64UL * 1024;  // of its keys and texts together

// What under `metadata` is for us and not for callers; null where there is nothing. Requires: a mapping.
[[nodiscard]] const yaml::Node* find_additions(const yaml::Node& mapping);

// The rest of `metadata` as callers get it. Keys, dates and `!!binary` become text, as
// envoyproxy/ratelimit has it; of equal keys the last counts. What is no number in JSON (.nan, .inf) becomes
// null, with a warning. Errors, to the findings: text that is no UTF-8, which only `!!binary` can bring, and what
// passes the maxima above; then null comes back, as for an empty mapping. Requires: a mapping.
[[nodiscard]] std::shared_ptr<const Metadata> read_metadata(const yaml::Node& mapping, Findings& findings);

}  // namespace penstock::rules
