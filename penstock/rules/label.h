#pragma once

#include <string>
#include <string_view>

namespace penstock::rules {

inline constexpr std::size_t kLabelHashDigits = 8;

// What stands for a value where it must not be seen: the first eight hex digits of its SHA-256, so that who knows a
// value finds it by `printf %s VALUE | sha256sum`. It hides values that nobody can guess, such as API keys, and no
// others. A star that is the whole value stays.
[[nodiscard]] std::string hashed(std::string_view value);

// "key", or "key_<hash>": a node's part of Rule::label.
[[nodiscard]] std::string label_of(std::string_view key, std::string_view value);

}  // namespace penstock::rules
