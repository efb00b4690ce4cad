#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// A text with stars, each of which stands for any bytes or none. It is compared with "key_value" of an entry as a
// whole, as in envoyproxy/ratelimit: the first piece is a prefix, the last a suffix, they do not overlap, and the
// pieces between are found leftmost first.
// Threading: Immutable. Cost of `matches`: linear, no allocation.
class Pattern {
 public:
  // Requires: the text has a star.
  explicit Pattern(std::string_view text);

  [[nodiscard]] bool matches(std::string_view key, std::string_view value) const noexcept;

  // The literal pieces: before the first star, between stars (none empty), and behind the last.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] const std::vector<std::string>& middle() const noexcept { return middle_; }
  [[nodiscard]] const std::string& suffix() const noexcept { return suffix_; }

 private:
  std::string prefix_;
  std::vector<std::string> middle_;  // none empty
  std::string suffix_;
  std::size_t literal_size_ = 0;
};

}  // namespace penstock::rules
