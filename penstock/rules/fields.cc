#include "penstock/rules/fields.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/base/nearest.h"

namespace penstock::rules {
namespace {

constexpr std::array kObjects{Object::file, Object::descriptor, Object::rate_limit, Object::list_item,
                              Object::peak, Object::replaced,   Object::additions};

constexpr unsigned in(Object object) { return 1U << static_cast<unsigned>(object); }

constexpr unsigned kFile = in(Object::file);
constexpr unsigned kDescriptor = in(Object::descriptor);
constexpr unsigned kSingle = in(Object::rate_limit);
constexpr unsigned kAnyLimit = in(Object::rate_limit) | in(Object::list_item);
constexpr unsigned kAdditions = in(Object::additions);
constexpr unsigned kOurLimit = kAnyLimit | kAdditions;
constexpr unsigned kAnyRate = kAnyLimit | in(Object::peak);

struct FieldInfo {
  std::string_view name;
  unsigned objects;
  bool ours = false;
};

// By Field.
constexpr std::array<FieldInfo, kFieldCount> kFields{{
    {"domain", kFile},
    {"key", kDescriptor},
    {"value", kDescriptor},
    {"rate_limit", kDescriptor},
    {"rate_limits", kDescriptor | kAdditions, true},
    {"descriptors", kFile | kDescriptor},
    {"shadow_mode", kDescriptor},
    {"quota_mode", kDescriptor},
    {"detailed_metric", kDescriptor},
    {"value_to_metric", kDescriptor},
    {"share_threshold", kDescriptor},
    {"metadata", kDescriptor},
    {"unit", kAnyRate},
    {"requests_per_unit", kAnyRate},
    {"unlimited", kSingle},
    {"name", kSingle | in(Object::replaced)},
    {"replaces", kSingle},
    {"algorithm", kOurLimit, true},
    {"unit_multiplier", kAnyRate | kAdditions, true},
    {"burst", kAnyRate | kAdditions, true},
    {"peak", kOurLimit, true},
    {"max_wait", kOurLimit, true},
    {"window_offset", kOurLimit, true},
    {"count_refused", kOurLimit, true},
    {"all_or_nothing", kFile, true},
    {"tier", kOurLimit, true},
    {"store", kFile | kOurLimit, true},
    {"on_store_failure", kOurLimit, true},
}};

const FieldInfo& info(Field field) { return kFields[static_cast<std::size_t>(field)]; }

std::vector<std::string_view> names_within(unsigned objects) {
  std::vector<std::string_view> names;
  for (const FieldInfo& field : kFields) {
    if ((field.objects & objects) != 0) names.push_back(field.name);
  }
  return names;
}

}  // namespace

std::string_view describe(Object object) noexcept {
  switch (object) {
    case Object::file: return "the file's root";
    case Object::descriptor: return "a descriptor";
    case Object::rate_limit: return "rate_limit";
    case Object::list_item: return "an item of rate_limits";
    case Object::replaced: return "an item of replaces";
    case Object::peak: return "peak";
    case Object::additions: return "'penstock' of metadata";
  }
  return "";
}

std::string_view to_string(Field field) noexcept { return info(field).name; }

std::optional<Field> field_named(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    if (kFields[i].name == text) return static_cast<Field>(i);
  }
  return std::nullopt;
}

bool belongs(Field field, Object object) noexcept { return (info(field).objects & in(object)) != 0; }

bool is_ours(Field field) noexcept { return info(field).ours; }

std::string fields_of(Object object) { return fmt::format("{}", fmt::join(names_within(in(object)), ", ")); }

std::string homes_of(Field field) {
  std::vector<std::string_view> homes;
  for (const Object object : kObjects) {
    if (belongs(field, object)) homes.push_back(describe(object));
  }
  return fmt::format("{}", fmt::join(homes, " or "));
}

std::optional<std::string_view> nearest_field(std::string_view text, Object object) {
  const std::optional<std::string_view> here = nearest(text, names_within(in(object)));
  return here ? here : nearest(text, names_within(~0U));
}

}  // namespace penstock::rules
