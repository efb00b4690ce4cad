#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/rules/pattern.h"
#include "penstock/rules/pattern_index.h"
#include "penstock/rules/rule.h"
#include "penstock/rules/rule_set.h"

// The compiled form of rule files, known to this room alone. Built by Builder, read by RuleSet.

namespace penstock::rules {

struct Node;

// Which of its three ways a look-up succeeded by.
enum class By : std::uint8_t { nothing, exact, pattern, key_alone };

struct Found {
  const Node* node = nullptr;
  By by = By::nothing;
};

// The nodes below one node. Cost of `find`: one pass over the entry for the hash, at most two probes, and the patterns:
// one by one up to kPlainPatterns, by PatternIndex beyond; no allocation. The hash has no secret: who could make texts
// collide in it would have to write the rules.
class Level {
 public:
  static constexpr std::size_t kPlainPatterns = 8;

  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }

  // First the node whose text is "key_value", then the patterns in order, then the node whose text is "key".
  [[nodiscard]] Found find(const Entry& entry) const noexcept;

  [[nodiscard]] const Node* find_text(std::string_view text) const noexcept;

  // The first node whose pattern matches the text, which is "key_value". Requires: finished.
  [[nodiscard]] const Node* first_pattern_for(std::string_view text) const noexcept;

  // Requires: no node with the same text is here, and `finish` was not called.
  Node& add(std::unique_ptr<Node> node);

  // Makes the level and all below it fit for `find`.
  void finish();

  [[nodiscard]] std::span<const std::unique_ptr<Node>> nodes() const noexcept { return nodes_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    const Node* node = nullptr;
  };

  [[nodiscard]] const Node* probe(std::uint64_t hash, std::string_view key, std::string_view value,
                                  bool joined) const noexcept;
  void place(Slot slot) noexcept;
  void grow();

  std::vector<std::unique_ptr<Node>> nodes_;
  [[nodiscard]] const Node* find_pattern(const Entry& entry) const noexcept;

  std::vector<const Node*> wildcards_;  // in the order of the file
  std::vector<Pattern> patterns_;       // theirs, while they are few
  std::optional<PatternIndex> index_;   // theirs, where they are many
  std::vector<Slot> slots_;             // open addressing, linear; a power of two, at most half full
};

struct Node {
  std::string text;            // "key", or "key_value"
  const Rule* rule = nullptr;  // null: this node limits nothing
  bool is_key_alone = false;   // the file gives it no value
  bool share_threshold = false;
  bool value_to_metric = false;
  std::uint32_t source = 0;  // index of the source that it stands in, and where
  int line = 0;
  int column = 0;
  Level children;

  [[nodiscard]] bool has_star() const noexcept { return text.find('*') != std::string::npos; }
};

// The part of a pattern that stands in the value's place for an entry with `key`. Where the star is in the key itself
// that is the whole pattern, as in envoyproxy/ratelimit.
[[nodiscard]] std::string_view value_part(std::string_view pattern, std::string_view key) noexcept;

// What identifies the counter in the value's place: the value, or the pattern where all its values share.
[[nodiscard]] std::string_view counted_value(const Found& found, const Entry& entry) noexcept;

class RuleSet::Domain {
 public:
  std::string name;
  Level top;
  bool all_or_nothing = false;
  std::optional<Place> all_or_nothing_place;  // where it is said
  std::string store;                          // of the first file that names one
  std::uint32_t source = 0;                   // of its first mention
  int line = 0;
  int column = 0;
};

struct Compiled {
  std::vector<std::string> sources;
  std::vector<std::unique_ptr<RuleSet::Domain>> domains;
  std::unordered_map<std::string_view, RuleSet::Domain*> by_name;
  std::vector<std::unique_ptr<const Rule>> rules;
};

}  // namespace penstock::rules
