#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/rules/rule_set.h"

namespace penstock::server {

inline constexpr std::uintmax_t kMaxRuleFileBytes = 64ULL * 1024 * 1024;

// Reads the rule files that `paths` name: a file as it is; a folder with all below it that end in .yaml, .yml or .json,
// names with a leading dot left out and linked folders not followed. Sorted by path, so that one configuration is one
// configuration on every machine. Errors: all that cannot be read, and a folder without rule files.
[[nodiscard]] ResultOrAll<std::vector<rules::Source>> read_rule_files(std::span<const std::filesystem::path> paths);

}  // namespace penstock::server
