#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/rules/metadata.h"
#include "penstock/yaml/node.h"

// A rule file as it was written: fields have their types, nothing is compiled yet.

namespace penstock::rules {

template <class T>
struct Stated {
  T value{};
  yaml::Mark mark;      // of the value, or of the mapping that lacks it
  bool stated = false;  // given, and not null
  bool broken = false;  // its value was refused already: what depends on it need not be
};

// So much in what time: a limit's own, or its peak.
struct RateDraft {
  yaml::Mark mark;
  Stated<std::string> unit;
  Stated<std::uint32_t> requests_per_unit;
  Stated<std::uint32_t> unit_multiplier;
  Stated<std::uint32_t> burst;
};

struct LimitDraft {
  RateDraft rate;
  Stated<bool> unlimited;
  Stated<std::string> name;
  std::vector<Stated<std::string>> replaces;
  Stated<std::string> algorithm;
  std::optional<RateDraft> peak;
  Stated<std::string> max_wait;
  Stated<std::string> window_offset;
  Stated<bool> count_refused;
  Stated<std::string> tier;
  Stated<std::string> store;
  Stated<std::string> on_store_failure;
};

struct DescriptorDraft {
  yaml::Mark mark;
  Stated<std::string> key;
  Stated<std::string> value;
  std::optional<LimitDraft> rate_limit;
  std::optional<std::vector<LimitDraft>> rate_limits;
  yaml::Mark rate_limits_mark;
  bool rate_limits_replace = false;  // they stand under `metadata`, in place of a `rate_limit`
  Stated<bool> shadow_mode;
  Stated<bool> quota_mode;
  Stated<bool> detailed_metric;
  Stated<bool> value_to_metric;
  Stated<bool> share_threshold;
  std::shared_ptr<const Metadata> metadata;
  std::vector<DescriptorDraft> descriptors;
};

struct FileDraft {
  Stated<std::string> domain;
  Stated<bool> all_or_nothing;
  Stated<std::string> store;  // of limits that name none
  std::vector<DescriptorDraft> descriptors;
};

}  // namespace penstock::rules
