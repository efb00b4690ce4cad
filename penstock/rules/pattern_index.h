#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/rules/byte_trie.h"
#include "penstock/rules/pattern.h"

namespace penstock::rules {

// Finds the first of many patterns that matches, without trying them one by one. Each pattern is filed under one of its
// literal pieces, the one that the fewest patterns have: its beginning or its end, each in a trie that is walked from
// that side of the text, or a piece between stars, in an automaton that finds all pieces in one pass (Aho and Corasick,
// "Efficient string matching", 1975). Only patterns whose piece occurs are compared with the text, each at most once.
//
// Threading: Immutable once built. Cost: building is linear in the patterns' text, but for sorting. `find` takes one
// pass over the text for each of the three, and the comparisons; it does not allocate. The comparisons are few where
// patterns differ in one of their pieces. Patterns that differ only as combinations of the same pieces, or only between
// stars beyond kMaxMiddles, are compared one by one.
class PatternIndex {
 public:
  static constexpr std::size_t kMaxMiddles = 4096;  // pieces between stars that patterns are filed under

  explicit PatternIndex(std::vector<Pattern> patterns);

  // The index of the first pattern that matches. `compared` is raised by the patterns that were compared.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view key, std::string_view value,
                                                std::size_t& compared) const noexcept;

 private:
  class Search;

  void file_patterns();

  std::vector<Pattern> patterns_;
  ByteTrie beginnings_;
  ByteTrie ends_;     // from the last byte on
  ByteTrie middles_;  // its numbers are indices of by_middle_
  std::vector<std::vector<std::uint32_t>> by_middle_;
  std::vector<std::uint32_t> rest_;  // those that have no piece, or none that they could be filed under
};

}  // namespace penstock::rules
