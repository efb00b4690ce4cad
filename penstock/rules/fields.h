#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::rules {

// The mappings that a rule file is made of.
enum class Object : std::uint8_t { file, descriptor, rate_limit, list_item, replaced, peak, additions };

// "a descriptor", for messages.
[[nodiscard]] std::string_view describe(Object object) noexcept;

enum class Field : std::uint8_t {
  domain,
  key,
  value,
  rate_limit,
  rate_limits,
  descriptors,
  shadow_mode,
  quota_mode,
  detailed_metric,
  value_to_metric,
  share_threshold,
  metadata,
  unit,
  requests_per_unit,
  unlimited,
  name,
  replaces,
  algorithm,
  unit_multiplier,
  burst,
  peak,
  max_wait,
  window_offset,
  count_refused,
  all_or_nothing,
  tier,
  store,
  on_store_failure,
};

inline constexpr std::size_t kFieldCount = 28;

[[nodiscard]] std::string_view to_string(Field field) noexcept;
[[nodiscard]] std::optional<Field> field_named(std::string_view text) noexcept;
[[nodiscard]] bool belongs(Field field, Object object) noexcept;

// Whether envoyproxy/ratelimit does not know it.
[[nodiscard]] bool is_ours(Field field) noexcept;

// "a, b, c": what the object takes. "a or b": where a field belongs.
[[nodiscard]] std::string fields_of(Object object);
[[nodiscard]] std::string homes_of(Field field);

// The field that was probably meant: one of the object itself if any is near, else any.
[[nodiscard]] std::optional<std::string_view> nearest_field(std::string_view text, Object object);

}  // namespace penstock::rules
