#include "penstock/rules/tree.h"

#include <utility>

#include "penstock/base/check.h"
#include "penstock/rules/text_hash.h"

namespace penstock::rules {
namespace {

std::uint64_t hash_of(std::string_view text) noexcept {
  TextHash hash;
  hash.bytes(text);
  return hash.finish();
}

bool is_joined(std::string_view text, std::string_view key, std::string_view value) noexcept {
  return text.size() == key.size() + 1 + value.size() && text.starts_with(key) && text[key.size()] == '_' &&
         text.ends_with(value);
}

}  // namespace

Found Level::find(const Entry& entry) const noexcept {
  if (nodes_.empty()) return {};
  TextHash hash;
  hash.bytes(entry.key);
  const std::uint64_t key_hash = hash.finish();
  hash.bytes("_");
  hash.bytes(entry.value);
  if (const Node* node = probe(hash.finish(), entry.key, entry.value, true)) return {.node = node, .by = By::exact};
  if (const Node* node = find_pattern(entry)) return {.node = node, .by = By::pattern};
  if (const Node* node = probe(key_hash, entry.key, {}, false)) return {.node = node, .by = By::key_alone};
  return {};
}

const Node* Level::find_text(std::string_view text) const noexcept {
  return nodes_.empty() ? nullptr : probe(hash_of(text), text, {}, false);
}

const Node* Level::probe(std::uint64_t hash, std::string_view key, std::string_view value, bool joined) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].node != nullptr; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash != hash) continue;
    if (joined ? is_joined(slot.node->text, key, value) : slot.node->text == key) return slot.node;
  }
  return nullptr;
}

Node& Level::add(std::unique_ptr<Node> node) {
  PENSTOCK_DCHECK(find_text(node->text) == nullptr);
  if ((nodes_.size() + 1) * 2 > slots_.size()) grow();
  Node& added = *nodes_.emplace_back(std::move(node));
  place({.hash = hash_of(added.text), .node = &added});
  if (added.has_star()) wildcards_.push_back(&added);
  return added;
}

void Level::finish() {
  for (const std::unique_ptr<Node>& node : nodes_) node->children.finish();
  patterns_.reserve(wildcards_.size());
  for (const Node* node : wildcards_) patterns_.emplace_back(node->text);
  if (patterns_.size() > kPlainPatterns) index_.emplace(std::exchange(patterns_, {}));
}

const Node* Level::first_pattern_for(std::string_view text) const noexcept {
  const std::size_t joint = text.find('_');
  if (joint == std::string_view::npos) return nullptr;  // no entry has such a text
  return find_pattern({.key = text.substr(0, joint), .value = text.substr(joint + 1)});
}

const Node* Level::find_pattern(const Entry& entry) const noexcept {
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    if (patterns_[i].matches(entry.key, entry.value)) return wildcards_[i];
  }
  if (!index_) return nullptr;
  std::size_t compared = 0;
  const std::optional<std::size_t> found = index_->find(entry.key, entry.value, compared);
  return found ? wildcards_[*found] : nullptr;
}

void Level::place(Slot slot) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = slot.hash & mask;
  while (slots_[at].node != nullptr) at = (at + 1) & mask;
  slots_[at] = slot;
}

void Level::grow() {
  std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 2 : slots_.size() * 2));
  for (const Slot& slot : before) {
    if (slot.node != nullptr) place(slot);
  }
}

std::string_view value_part(std::string_view pattern, std::string_view key) noexcept {
  const bool has_key = pattern.size() > key.size() && pattern.starts_with(key) && pattern[key.size()] == '_';
  return has_key ? pattern.substr(key.size() + 1) : pattern;
}

std::string_view counted_value(const Found& found, const Entry& entry) noexcept {
  if (found.by != By::pattern || !found.node->share_threshold) return entry.value;
  return value_part(found.node->text, entry.key);
}

}  // namespace penstock::rules
