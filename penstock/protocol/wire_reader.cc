#include "penstock/protocol/wire_reader.h"

#include <algorithm>

namespace penstock::protocol {

bool WireReader::long_varint(std::uint64_t& value, std::size_t max_bytes) noexcept {
  value = 0;
  const std::size_t end = std::min(max_bytes, left_.size());
  for (std::size_t i = 0; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(left_[i]);
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte < 0x80) return advance(i + 1);
  }
  return false;
}

bool WireReader::skip(std::uint32_t tag) noexcept {
  std::uint64_t number = 0;
  std::string_view ignored;
  switch (static_cast<Type>(tag & 7)) {
    case Type::varint: return varint(number);
    case Type::fixed64: return advance(8);
    case Type::bytes: return bytes(ignored);
    case Type::begin_group: return skip_group(tag >> 3);
    case Type::fixed32: return advance(4);
    case Type::end_group: return false;
  }
  return false;
}

// One loop and not a recursion, with what has to be closed kept on the side.
bool WireReader::skip_group(std::uint32_t field) noexcept {
  std::uint32_t open[kMaxDepth];
  int depth = 0;
  if (depth_ <= 0) return false;
  open[depth++] = field;
  while (depth > 0) {
    std::uint32_t next = 0;
    if (!tag(next)) return false;
    switch (static_cast<Type>(next & 7)) {
      case Type::begin_group:
        if (depth >= depth_) return false;
        open[depth++] = next >> 3;
        break;
      case Type::end_group:
        if (open[--depth] != next >> 3) return false;
        break;
      default:
        if (!skip(next)) return false;
    }
  }
  return true;
}

bool WireReader::advance(std::size_t size) noexcept {
  if (size > left_.size()) return false;
  left_.remove_prefix(size);
  return true;
}

}  // namespace penstock::protocol
