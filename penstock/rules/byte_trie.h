#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace penstock::rules {

// Texts, byte by byte, with numbers at their ends. First all are added, then `finish` makes it fit for reading; with
// failure links it is the automaton of Aho and Corasick.
// Threading: Immutable once finished. Cost: a step is a probe or two of one hash table; some 30 bytes of memory a node.
class ByteTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = 0xffff'ffff;

  ByteTrie();

  // Puts `number` at the end of `text`, read backwards if asked. Requires: not finished; numbers at one end ascend.
  void add(std::string_view text, bool backwards, std::uint32_t number);

  void finish(bool with_failure_links);

  [[nodiscard]] bool empty() const noexcept { return numbers_.empty(); }
  [[nodiscard]] std::size_t nodes() const noexcept { return first_number_.size(); }

  // The node below, or kNone.
  [[nodiscard]] Node child(Node node, char byte) const noexcept;

  // The next state of the automaton. Requires: failure links.
  [[nodiscard]] Node next(Node node, char byte) const noexcept;

  // The numbers at the node itself, ascending.
  [[nodiscard]] std::span<const std::uint32_t> numbers(Node node) const noexcept;

  // This node if it has numbers, else the nearest one on its failure links that has; kNone if none has. From such a
  // node on, the next one that has numbers. Requires: failure links.
  [[nodiscard]] Node ending_at(Node node) const noexcept { return numbers(node).empty() ? next_ending_[node] : node; }
  [[nodiscard]] Node next_ending(Node node) const noexcept { return next_ending_[node]; }

 private:
  struct Edge {
    std::uint64_t from = 0;  // node x 256 + byte, plus one; 0: free
    Node to = 0;
  };
  struct Numbered {
    Node node;
    std::uint32_t number;
  };

  [[nodiscard]] std::size_t place_of(std::uint64_t from) const noexcept;
  [[nodiscard]] Node child_or_add(Node node, char byte);
  void grow();
  void link_failures();

  Node count_ = 1;
  std::vector<Edge> edges_;  // open addressing, linear; a power of two, at most half full
  std::vector<Numbered> added_;
  std::vector<std::uint32_t> numbers_;       // by node
  std::vector<std::uint32_t> first_number_;  // by node, and one more; only once finished
  std::vector<Node> failure_;
  std::vector<Node> next_ending_;
};

}  // namespace penstock::rules
