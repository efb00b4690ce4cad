#pragma once

#include <string_view>

namespace penstock {

// Whether a text is well-formed UTF-8 (RFC 3629): no surrogates, nothing beyond U+10FFFF, no longer form than needed.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace penstock
