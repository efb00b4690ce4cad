#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::protocol {

struct JsonInteger {
  std::uint64_t magnitude = 0;
  bool negative = false;

  friend bool operator==(const JsonInteger&, const JsonInteger&) = default;
};

// The whole number that a JSON number stands for, exactly; 1.0, 1e0 and 10e-1 are 1. Nothing for any other text, for a
// fraction, and beyond 64 bits. Cost: linear, no allocation.
[[nodiscard]] std::optional<JsonInteger> parse_json_integer(std::string_view text) noexcept;

}  // namespace penstock::protocol
