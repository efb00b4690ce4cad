#include "penstock/rules/pattern_index.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <string>
#include <unordered_map>
#include <utility>

namespace penstock::rules {
namespace {

enum class Side : std::uint8_t { beginning, end, middle };

struct Piece {
  Side side;
  std::string_view text;

  friend bool operator==(const Piece&, const Piece&) = default;
};

struct PieceHash {
  std::size_t operator()(const Piece& piece) const noexcept {
    return std::hash<std::string_view>{}(piece.text) * 3 + static_cast<std::size_t>(piece.side);
  }
};

// Calls `use(piece)` for each literal piece of a pattern, those at its ends first.
template <class Use>
void each_piece(const Pattern& pattern, Use use) {
  if (!pattern.prefix().empty()) use(Piece{.side = Side::beginning, .text = pattern.prefix()});
  if (!pattern.suffix().empty()) use(Piece{.side = Side::end, .text = pattern.suffix()});
  for (const std::string& middle : pattern.middle()) use(Piece{.side = Side::middle, .text = middle});
}

// Calls `step(byte)` for the bytes of "key_value" until it says no.
template <class Step>
void walk(std::string_view key, std::string_view value, Step step) noexcept {
  for (const char byte : key) {
    if (!step(byte)) return;
  }
  if (!step('_')) return;
  for (const char byte : value) {
    if (!step(byte)) return;
  }
}

template <class Step>
void walk_backwards(std::string_view key, std::string_view value, Step step) noexcept {
  for (std::size_t i = value.size(); i > 0; --i) {
    if (!step(value[i - 1])) return;
  }
  if (!step('_')) return;
  for (std::size_t i = key.size(); i > 0; --i) {
    if (!step(key[i - 1])) return;
  }
}

}  // namespace

// One look-up: the patterns that might match, in any order, and the first that does.
class PatternIndex::Search {
 public:
  Search(const PatternIndex& index, std::string_view key, std::string_view value) noexcept
      : index_{index}, key_{key}, value_{value}, best_{static_cast<std::uint32_t>(index.patterns_.size())} {}

  void from_beginning() noexcept {
    if (index_.beginnings_.empty()) return;
    ByteTrie::Node node = ByteTrie::kRoot;
    walk(key_, value_, [&](char byte) { return descend(index_.beginnings_, node, byte); });
  }

  void from_end() noexcept {
    if (index_.ends_.empty()) return;
    ByteTrie::Node node = ByteTrie::kRoot;
    walk_backwards(key_, value_, [&](char byte) { return descend(index_.ends_, node, byte); });
  }

  void between() noexcept {
    if (index_.middles_.empty()) return;
    std::bitset<kMaxMiddles> seen;
    ByteTrie::Node state = ByteTrie::kRoot;
    walk(key_, value_, [&](char byte) {
      state = index_.middles_.next(state, byte);
      for (auto at = index_.middles_.ending_at(state); at != ByteTrie::kNone; at = index_.middles_.next_ending(at)) {
        const std::uint32_t middle = index_.middles_.numbers(at).front();
        if (seen[middle]) break;  // then those further on were seen as well
        seen[middle] = true;
        compare(index_.by_middle_[middle]);
      }
      return true;
    });
  }

  void rest() noexcept { compare(index_.rest_); }

  [[nodiscard]] std::uint32_t best() const noexcept { return best_; }
  [[nodiscard]] std::size_t compared() const noexcept { return compared_; }

 private:
  bool descend(const ByteTrie& trie, ByteTrie::Node& node, char byte) noexcept {
    node = trie.child(node, byte);
    if (node == ByteTrie::kNone) return false;
    compare(trie.numbers(node));
    return true;
  }

  void compare(std::span<const std::uint32_t> ascending) noexcept {
    for (const std::uint32_t pattern : ascending) {
      if (pattern >= best_) return;
      ++compared_;
      if (!index_.patterns_[pattern].matches(key_, value_)) continue;
      best_ = pattern;
      return;
    }
  }

  const PatternIndex& index_;
  std::string_view key_;
  std::string_view value_;
  std::uint32_t best_;
  std::size_t compared_ = 0;
};

PatternIndex::PatternIndex(std::vector<Pattern> patterns) : patterns_{std::move(patterns)} {
  file_patterns();
  beginnings_.finish(false);
  ends_.finish(false);
  middles_.finish(true);
}

void PatternIndex::file_patterns() {
  std::unordered_map<Piece, std::uint32_t, PieceHash> counts;
  for (const Pattern& pattern : patterns_) each_piece(pattern, [&](const Piece& piece) { ++counts[piece]; });

  std::unordered_map<std::string_view, std::uint32_t> middles;
  for (std::uint32_t i = 0; i < patterns_.size(); ++i) {
    std::optional<Piece> rarest;
    std::uint32_t least = 0;
    each_piece(patterns_[i], [&](const Piece& piece) {
      const bool room = piece.side != Side::middle || middles.size() < kMaxMiddles || middles.contains(piece.text);
      const std::uint32_t count = counts[piece];
      const bool rarer = !rarest || count < least || (count == least && piece.text.size() > rarest->text.size());
      if (!room || !rarer) return;
      rarest = piece;
      least = count;
    });
    if (!rarest) {
      rest_.push_back(i);
    } else if (rarest->side == Side::beginning) {
      beginnings_.add(rarest->text, false, i);
    } else if (rarest->side == Side::end) {
      ends_.add(rarest->text, true, i);
    } else {
      const auto [middle, added] = middles.try_emplace(rarest->text, static_cast<std::uint32_t>(middles.size()));
      if (added) middles_.add(rarest->text, false, middle->second);
      by_middle_.resize(middles.size());
      by_middle_[middle->second].push_back(i);
    }
  }
}

std::optional<std::size_t> PatternIndex::find(std::string_view key, std::string_view value,
                                              std::size_t& compared) const noexcept {
  Search search{*this, key, value};
  search.rest();
  search.from_beginning();
  search.from_end();
  search.between();
  compared += search.compared();
  if (search.best() == patterns_.size()) return std::nullopt;
  return search.best();
}

}  // namespace penstock::rules
