#pragma once

#include <cstdint>
#include <string>

#include "penstock/rules/draft.h"
#include "penstock/rules/fields.h"
#include "penstock/rules/findings.h"
#include "penstock/yaml/node.h"

// The values of fields, with their types. What has another type goes to the findings, with what is accepted, and comes
// back as broken; null is as good as not given.

namespace penstock::rules {

[[nodiscard]] bool is_null(const yaml::Node& node);

// "'text', a boolean", or "a list": what a message says was found.
[[nodiscard]] std::string show(const yaml::Node& node);

// As envoyproxy/ratelimit reads texts: integers and booleans are taken as they are written, fractions are not.
[[nodiscard]] Stated<std::string> read_text(const yaml::Node& value, Field field, Findings& findings);

// A scalar as it is written, whatever its type: whoever reads it says what is accepted.
[[nodiscard]] Stated<std::string> read_word(const yaml::Node& value, Field field, Findings& findings);

[[nodiscard]] Stated<bool> read_boolean(const yaml::Node& value, Field field, Findings& findings);

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;  // at most that of uint32
};

[[nodiscard]] Stated<std::uint32_t> read_count(const yaml::Node& value, Field field, Range range, Findings& findings);

}  // namespace penstock::rules
