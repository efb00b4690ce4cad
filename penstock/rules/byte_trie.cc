#include "penstock/rules/byte_trie.h"

#include <algorithm>
#include <utility>

#include "penstock/base/check.h"

namespace penstock::rules {
namespace {

std::uint64_t edge_from(ByteTrie::Node node, char byte) noexcept {
  return (std::uint64_t{node} << 8) + static_cast<unsigned char>(byte) + 1;
}

}  // namespace

ByteTrie::ByteTrie() : edges_(8) {}

std::size_t ByteTrie::place_of(std::uint64_t from) const noexcept {
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  const std::size_t mask = edges_.size() - 1;
  std::size_t at = (from * kOdd >> 32) & mask;
  while (edges_[at].from != 0 && edges_[at].from != from) at = (at + 1) & mask;
  return at;
}

ByteTrie::Node ByteTrie::child(Node node, char byte) const noexcept {
  const Edge& edge = edges_[place_of(edge_from(node, byte))];
  return edge.from == 0 ? kNone : edge.to;
}

ByteTrie::Node ByteTrie::child_or_add(Node node, char byte) {
  if (std::size_t{count_} * 2 >= edges_.size()) grow();
  const std::uint64_t from = edge_from(node, byte);
  Edge& edge = edges_[place_of(from)];
  if (edge.from == 0) edge = {.from = from, .to = count_++};
  return edge.to;
}

void ByteTrie::grow() {
  const std::vector<Edge> before = std::exchange(edges_, std::vector<Edge>(edges_.size() * 2));
  for (const Edge& edge : before) {
    if (edge.from != 0) edges_[place_of(edge.from)] = edge;
  }
}

void ByteTrie::add(std::string_view text, bool backwards, std::uint32_t number) {
  Node node = kRoot;
  for (std::size_t i = 0; i < text.size(); ++i) {
    node = child_or_add(node, backwards ? text[text.size() - 1 - i] : text[i]);
  }
  added_.push_back({.node = node, .number = number});
}

void ByteTrie::finish(bool with_failure_links) {
  std::ranges::sort(added_, {}, [](const Numbered& each) { return std::pair{each.node, each.number}; });
  first_number_.assign(std::size_t{count_} + 1, 0);
  for (const Numbered& each : added_) ++first_number_[each.node + 1];
  for (std::size_t node = 0; node < count_; ++node) first_number_[node + 1] += first_number_[node];
  numbers_.reserve(added_.size());
  for (const Numbered& each : added_) numbers_.push_back(each.number);
  std::vector<Numbered>{}.swap(added_);
  if (with_failure_links) link_failures();
}

std::span<const std::uint32_t> ByteTrie::numbers(Node node) const noexcept {
  return std::span{numbers_}.subspan(first_number_[node], first_number_[node + 1] - first_number_[node]);
}

// A node's failure link is a shorter one, so nodes are linked by their depth: breadth first, in the order of edges.
void ByteTrie::link_failures() {
  struct Below {
    Node parent, node;
    char byte;
  };
  std::vector<Below> edges;
  edges.reserve(count_);
  for (const Edge& edge : edges_) {
    if (edge.from == 0) continue;
    edges.push_back({.parent = static_cast<Node>((edge.from - 1) >> 8),
                     .node = edge.to,
                     .byte = static_cast<char>((edge.from - 1) & 0xff)});
  }
  std::ranges::sort(edges, {}, &Below::node);  // a parent has a lower number than its children
  std::vector<std::uint32_t> depth(count_, 0);
  for (const Below& edge : edges) depth[edge.node] = depth[edge.parent] + 1;
  std::ranges::sort(edges, {}, [&](const Below& edge) { return std::pair{depth[edge.node], edge.node}; });

  failure_.assign(count_, kRoot);
  next_ending_.assign(count_, kNone);
  for (const Below& edge : edges) {
    failure_[edge.node] = edge.parent == kRoot ? kRoot : next(failure_[edge.parent], edge.byte);
    next_ending_[edge.node] = ending_at(failure_[edge.node]);
  }
}

ByteTrie::Node ByteTrie::next(Node node, char byte) const noexcept {
  while (true) {
    const Node below = child(node, byte);
    if (below != kNone) return below;
    if (node == kRoot) return kRoot;
    node = failure_[node];
  }
}

}  // namespace penstock::rules
