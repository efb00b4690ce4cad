#include "penstock/rules/pattern.h"

#include <cstring>

#include "penstock/base/check.h"

namespace penstock::rules {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

// key + '_' + value, without putting it together.
class Joined {
 public:
  Joined(std::string_view key, std::string_view value) noexcept : key_{key}, value_{value} {}

  [[nodiscard]] std::size_t size() const noexcept { return key_.size() + 1 + value_.size(); }

  // Requires: at + piece.size() <= size().
  [[nodiscard]] bool has_at(std::size_t at, std::string_view piece) const noexcept {
    if (at > key_.size()) return value_.substr(at - key_.size() - 1, piece.size()) == piece;
    const std::string_view in_key = piece.substr(0, key_.size() - at);
    if (key_.substr(at, in_key.size()) != in_key) return false;
    piece.remove_prefix(in_key.size());
    if (piece.empty()) return true;
    return piece.front() == '_' && value_.starts_with(piece.substr(1));
  }

  // The first place of `piece` within [at, end).
  [[nodiscard]] std::size_t find(std::size_t at, std::size_t end, std::string_view piece) const noexcept {
    for (; at <= key_.size(); ++at) {
      if (at + piece.size() > end) return kNowhere;
      if (has_at(at, piece)) return at;
    }
    if (at > end) return kNowhere;
    const char* from = value_.data() + (at - key_.size() - 1);
    // Linear in the worst case too, which searching by std::string_view is not.
    const void* found = memmem(from, end - at, piece.data(), piece.size());
    return found == nullptr ? kNowhere : at + static_cast<std::size_t>(static_cast<const char*>(found) - from);
  }

 private:
  std::string_view key_;
  std::string_view value_;
};

}  // namespace

Pattern::Pattern(std::string_view text) {
  const std::size_t first = text.find('*');
  const std::size_t last = text.rfind('*');
  PENSTOCK_CHECK(first != std::string_view::npos);
  prefix_ = text.substr(0, first);
  suffix_ = text.substr(last + 1);
  literal_size_ = prefix_.size() + suffix_.size();
  for (std::size_t at = first; at < last;) {
    const std::size_t next = text.find('*', at + 1);
    const std::string_view piece = text.substr(at + 1, next - at - 1);
    if (!piece.empty()) middle_.emplace_back(piece);
    literal_size_ += piece.size();
    at = next;
  }
}

bool Pattern::matches(std::string_view key, std::string_view value) const noexcept {
  const Joined text{key, value};
  if (text.size() < literal_size_) return false;
  const std::size_t end = text.size() - suffix_.size();
  if (!text.has_at(0, prefix_) || !text.has_at(end, suffix_)) return false;
  std::size_t at = prefix_.size();
  for (const std::string& piece : middle_) {
    const std::size_t found = text.find(at, end, piece);
    if (found == kNowhere) return false;
    at = found + piece.size();
  }
  return true;
}

}  // namespace penstock::rules
