#include "penstock/rules/label.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "penstock/base/sha256.h"

namespace penstock::rules {

std::string hashed(std::string_view value) {
  if (value == "*") return "*";
  const std::array<std::uint8_t, 32> digest = sha256(value);
  return fmt::format("{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
}

std::string label_of(std::string_view key, std::string_view value) {
  if (value.empty()) return std::string{key};
  return fmt::format("{}_{}", key, hashed(value));
}

}  // namespace penstock::rules
