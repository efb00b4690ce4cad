#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace penstock {

// Cuts a text that arrives in pieces into words of eight bytes, the first byte the least significant. The words depend
// on the bytes alone, not on where the pieces were cut; what does not fill a word yet is the tail. Threading: Value; a
// copy continues from where it was taken. Cost: one read a word, no allocation.
class WordCutter {
 public:
  // Calls `use(word)` for each word that became full.
  template <class Use>
  void bytes(std::string_view text, Use use) noexcept {
    const char* at = text.data();
    std::size_t left = text.size();
    const unsigned filled = static_cast<unsigned>(length_ & 7);
    length_ += left;
    for (; left >= 8; at += 8, left -= 8) complete(load(at, 8), filled, use);
    if (left == 0) return;
    const std::uint64_t word = load(at, left);
    if (filled + left < 8) {
      tail_ |= word << (8 * filled);
    } else {
      complete(word, filled, use);
    }
  }

  [[nodiscard]] std::uint64_t tail() const noexcept { return tail_; }  // the unused bytes are zero
  [[nodiscard]] std::uint64_t length() const noexcept { return length_; }

 private:
  static_assert(std::endian::native == std::endian::little, "words are read as they lie");

  static std::uint64_t load(const char* at, std::size_t size) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, at, size);
    return word;
  }

  // Takes eight more bytes when `filled` of the tail's eight are in use already.
  template <class Use>
  void complete(std::uint64_t word, unsigned filled, Use use) noexcept {
    if (filled == 0) {
      use(word);
      return;
    }
    use(tail_ | (word << (8 * filled)));
    tail_ = word >> (64 - 8 * filled);
  }

  std::uint64_t tail_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace penstock
