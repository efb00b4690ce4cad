#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/algorithm/limit.h"
#include "penstock/base/error.h"
#include "penstock/rules/metadata.h"

namespace penstock::rules {

// The units of rule files and of the wire; the numbers are those of RateLimitResponse.RateLimit.Unit.
enum class Unit : std::uint8_t { second = 1, minute = 2, hour = 3, day = 4, month = 5, year = 6, week = 7 };

// A month is 30 days and a year 365, as in envoyproxy/ratelimit.
[[nodiscard]] std::int64_t seconds_of(Unit unit) noexcept;

// In lower case, as in rule files.
[[nodiscard]] std::string_view to_string(Unit unit) noexcept;

// Where a limit's counters are.
enum class Tier : std::uint8_t {
  global,  // in the store that all nodes share, where there is one
  local,   // in this node's own table, whatever other nodes count
};
[[nodiscard]] std::string_view to_string(Tier tier) noexcept;

// What a limit answers when its store does not answer in time.
enum class OnStoreFailure : std::uint8_t {
  error,  // the request gets an error: the caller decides (in Envoy failure_mode_deny)
  allow,  // lets pass
  deny,   // refuses
  local,  // counts in this node's own table, with its share of the limit
};
inline constexpr std::size_t kOnStoreFailures = 4;
[[nodiscard]] std::string_view to_string(OnStoreFailure policy) noexcept;
[[nodiscard]] std::optional<OnStoreFailure> on_store_failure_named(std::string_view text) noexcept;

// The faster rate of a limit that has two, as configured.
struct Peak {
  Unit unit = Unit::second;
  std::uint32_t unit_multiplier = 1;
  std::uint32_t requests_per_unit = 0;
  std::uint32_t burst = 0;
};

// One limit of a rule, with what a caller is told of it.
struct RuleLimit {
  algorithm::Limit limit;
  Unit unit = Unit::second;           // as configured, as are the next three
  std::uint32_t unit_multiplier = 1;  // the window, or the time to refill, is so many units
  std::uint32_t requests_per_unit = 0;
  std::uint32_t burst = 0;  // buckets
  std::optional<Peak> peak = std::nullopt;
  // Tells apart the limits of one rule whose identities would be equal otherwise (same algorithm, same window): their
  // rank among those.
  std::uint8_t rank = 0;
  bool from_list = false;  // member of `rate_limits`
  Tier tier = Tier::global;
  std::string store;                                              // the name of a store; empty: the common one
  std::optional<OnStoreFailure> on_store_failure = std::nullopt;  // nothing: as the server is set

  // Whether it is a limit of envoyproxy/ratelimit, whose key text its counter may then have.
  [[nodiscard]] bool is_original() const noexcept {
    return limit.algorithm() == algorithm::Algorithm::fixed_window && limit.counts_refused() &&
           !limit.spreads_windows() && unit_multiplier == 1 && !from_list;
  }
};

// A node of a rule file that carries limits, or says `unlimited`. Immutable, owned by its RuleSet.
struct Rule {
  static constexpr std::size_t kMaxLimits = 16;

  std::uint32_t index = 0;  // dense from 0 in its RuleSet: where per-rule statistics are kept
  std::string domain;
  std::string path;  // "domain.key_value.key2", the base of its statistics names
  std::string name;  // what callers are told, and `replaces` refers to; may be empty
  std::vector<std::string> replaces;
  std::vector<RuleLimit> limits;  // one group; empty only if `unlimited`
  bool unlimited = false;
  bool shadow_mode = false;
  bool quota_mode = false;
  bool detailed_metric = false;
  // A map that callers are given when the rule lets them pass; without `penstock`, which is read and kept back. Null:
  // none.
  std::shared_ptr<const Metadata> metadata;
  // The rule and its limits for callers who ask which decided. The label is the path with each value hashed,
  // "domain.key_8f14e45f.key2" (see label.h); the texts are those of `describe_limit`, by limit.
  std::string label;
  std::vector<std::string> limit_texts;
  Place place;  // of the node's `key`
};

}  // namespace penstock::rules
