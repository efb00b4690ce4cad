#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace penstock {

// The candidate that a person who typed `text` most likely meant: the least edit distance (insertions, deletions,
// substitutions, swaps of neighbours; case and '-' against '_' count as equal), at most a third of the longer text.
// Ties go to the earlier candidate. Cost: O(length^2) per candidate, for error messages only.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view text,
                                                      std::span<const std::string_view> candidates);

}  // namespace penstock
