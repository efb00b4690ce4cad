#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/yaml/node.h"

namespace penstock::yaml {

// What a scalar is in YAML 1.1, as far as rule files can tell types apart. Dates and times are text.
enum class Type : std::uint8_t {
  null,
  boolean,
  integer,
  other_number,  // with a fraction or an exponent, infinite, not a number, or beyond 64 bits
  text,
};

// "a boolean", for messages.
[[nodiscard]] std::string_view describe(Type type) noexcept;

struct Scalar {
  Type type = Type::text;
  bool boolean = false;      // Type::boolean
  std::int64_t integer = 0;  // Type::integer

  friend bool operator==(const Scalar&, const Scalar&) = default;
};

// The type of a scalar node, by the rules of Go's yaml.v2, which envoyproxy/ratelimit reads its files with: y, yes, on
// and their like are booleans; integers may have a sign, underscores, and a base (0x1F, 0o17, 017, 0b11); quoted
// scalars are text; an unknown tag makes text. Requires: node.kind is scalar.
[[nodiscard]] Scalar resolve(const Node& node) noexcept;

// The type of a scalar that is neither quoted nor tagged.
[[nodiscard]] Scalar resolve_plain(std::string_view text) noexcept;

// Whether the tag of a scalar node agrees with its text: `!!int many` does not. Requires: node.kind is scalar.
[[nodiscard]] bool tag_fits(const Node& node) noexcept;

// The number that a scalar of Type::integer or Type::other_number stands for, rounded to a double; not a number where
// it says so.
[[nodiscard]] double to_double(const Node& node) noexcept;

// The bytes of a !!binary scalar (RFC 4648 section 4, line breaks skipped); nullopt if it is not base64.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace penstock::yaml
