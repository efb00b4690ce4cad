#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace penstock {

// SHA-256 of `bytes` (FIPS 180-4), by libcrypto. Cost: microseconds and an allocation; not for the hot path.
[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::string_view bytes);

}  // namespace penstock
