#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/base/hash.h"
#include "penstock/base/instant.h"
#include "penstock/rules/rule.h"

namespace penstock::rules {

// One entry of a descriptor, as the caller sent it.
struct Entry {
  std::string_view key;
  std::string_view value;
};

// What matched a descriptor. Where there is a rule, `counter` has taken in the domain and all entries (a shared
// wildcard's pattern in place of its value); `counter_of` completes it for one limit.
struct Match {
  const Rule* rule = nullptr;  // null: nothing limits this descriptor
  SipHasher128 counter{HashKey{}};
};

// The keyed identity of the counter of `limit` below what `counter` took in: adds the algorithm, for windows their
// length and offset, and the rank.
[[nodiscard]] Hash128 counter_of(const SipHasher128& counter, const RuleLimit& limit) noexcept;

// One text of rules and where it came from.
struct Source {
  std::string name;  // shown in errors, usually a path
  std::string text;
};

struct LoadOptions {
  bool merge_domains = false;  // several sources may add to one domain; top-level descriptors must differ
  // The names that `store` may have; nothing: any, since where the rules will be used is not known.
  std::optional<std::vector<std::string>> stores = std::nullopt;
};

struct Loaded;
struct Compiled;

// All rules of all domains, compiled for matching. The format and the order of matching are those of
// envoyproxy/ratelimit: at each level first the exact key and value, then the wildcard patterns in file order, then the
// key alone; no way back; a limit counts only if the node matched at the last entry carries it.
//
// Threading: Immutable. Cost of `match`: no allocation, one table look-up a level, plus the wildcards of the level.
class RuleSet {
 public:
  class Domain;

  RuleSet();  // no domain at all
  explicit RuleSet(std::unique_ptr<const Compiled> compiled);
  ~RuleSet();
  RuleSet(const RuleSet&) = delete;
  RuleSet& operator=(const RuleSet&) = delete;

  // Null for an unknown domain.
  [[nodiscard]] const Domain* domain(std::string_view name) const noexcept;

  // Whether the domain says `all_or_nothing`: a check's limits that do not count refused hits are charged all or none.
  [[nodiscard]] bool is_all_or_nothing(const Domain& domain) const noexcept;

  // The store that the domain's file names, for limits that come with a request; empty: none.
  [[nodiscard]] const std::string& store_of(const Domain& domain) const noexcept;

  [[nodiscard]] Match match(const Domain& domain, std::span<const Entry> entries, HashKey key) const noexcept;

  // The hasher for entries as they are, without looking at rules: what an override is counted under.
  [[nodiscard]] SipHasher128 identify(std::string_view domain, std::span<const Entry> entries,
                                      HashKey key) const noexcept;

  // Names of a counter outside of this node; see store::CounterNames. They look at the rules again, but for an
  // override.
  [[nodiscard]] std::array<std::uint8_t, 16> shared_identity(std::string_view domain, std::span<const Entry> entries,
                                                             const RuleLimit& limit, bool is_override) const;
  [[nodiscard]] std::uint64_t shared_family(std::string_view domain, std::span<const Entry> entries,
                                            bool is_override) const;
  // "<domain>_<key>_<value>_..._<window start>"; false where the original has no such key.
  [[nodiscard]] bool append_original_key(std::string_view domain, std::span<const Entry> entries,
                                         const RuleLimit& limit, bool is_override, Instant now, std::string& out) const;

  // The path under which envoyproxy/ratelimit counts this descriptor's hits, without a prefix: that of the rule with
  // values in it where `value_to_metric`, `detailed_metric` or an override ask for them. False where nothing limits it.
  [[nodiscard]] bool append_stats_path(std::string_view domain, std::span<const Entry> entries, bool is_override,
                                       std::string& out) const;

  [[nodiscard]] std::span<const std::unique_ptr<const Rule>> rules() const noexcept;
  [[nodiscard]] std::vector<std::string_view> domain_names() const;

  // What it is made of; only this room knows the type.
  [[nodiscard]] const Compiled& compiled() const noexcept { return *compiled_; }

 private:
  std::unique_ptr<const Compiled> compiled_;
};

// What a load gives: the rules, and what is no mistake but surely not meant, such as a known field in a place where it
// does nothing.
struct Loaded {
  std::shared_ptr<const RuleSet> rules;
  std::vector<Error> warnings;
};

// Reads all sources as one configuration, in the order of their names. Errors: every mistake of every source in file
// order, each with its place, the wrong value, and what would be accepted; an unknown field also names the nearest
// known one.
[[nodiscard]] ResultOrAll<Loaded> load(std::span<const Source> sources, const LoadOptions& options);

}  // namespace penstock::rules
