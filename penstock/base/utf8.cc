#include "penstock/base/utf8.h"

#include <cstddef>
#include <cstdint>

namespace penstock {
namespace {

// RFC 3629 section 4: what the first byte says of the bytes that follow it.
struct Sequence {
  std::size_t following = 0;
  std::uint8_t least = 0x80;  // of the second byte
  std::uint8_t most = 0xBF;
};

bool sequence_of(std::uint8_t first, Sequence& sequence) noexcept {
  if (first < 0x80) {
    sequence = {.following = 0};
  } else if (first >= 0xC2 && first <= 0xDF) {
    sequence = {.following = 1};
  } else if (first >= 0xE0 && first <= 0xEF) {
    sequence = {.following = 2, .least = first == 0xE0 ? std::uint8_t{0xA0} : std::uint8_t{0x80}};
    if (first == 0xED) sequence.most = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    sequence = {.following = 3, .least = first == 0xF0 ? std::uint8_t{0x90} : std::uint8_t{0x80}};
    if (first == 0xF4) sequence.most = 0x8F;
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    Sequence sequence;
    if (!sequence_of(static_cast<std::uint8_t>(text[at]), sequence)) return false;
    if (text.size() - at <= sequence.following) return false;
    for (std::size_t i = 1; i <= sequence.following; ++i) {
      const auto byte = static_cast<std::uint8_t>(text[at + i]);
      const bool second = i == 1;
      if (byte < (second ? sequence.least : 0x80) || byte > (second ? sequence.most : 0xBF)) return false;
    }
    at += sequence.following;
  }
  return true;
}

}  // namespace penstock
