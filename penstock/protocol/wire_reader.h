#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::protocol {

// Takes protobuf's wire format apart (protobuf.dev/programming-guides/encoding), one field after the other, without
// copying. Each method that reads is false for bytes that libprotobuf would refuse too; nothing more may be read then.
//
// Threading: Value. Ownership: borrows the bytes. Cost: no allocation.
class WireReader {
 public:
  static constexpr int kMaxDepth = 100;  // of messages and groups in each other, as in libprotobuf

  enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, begin_group = 3, end_group = 4, fixed32 = 5 };

  explicit WireReader(std::string_view bytes) noexcept : WireReader{bytes, kMaxDepth} {}

  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }
  [[nodiscard]] const char* at() const noexcept { return left_.data(); }

  [[nodiscard]] static constexpr std::uint32_t tag_of(std::uint32_t field, Type type) noexcept {
    return field << 3 | static_cast<std::uint32_t>(type);
  }

  // The number and the type of the next field.
  [[nodiscard]] bool tag(std::uint32_t& tag) noexcept {
    std::uint64_t wide = 0;
    if (!varint(wide, kMaxVarint32)) return false;
    tag = static_cast<std::uint32_t>(wide);
    return tag >> 3 != 0;
  }
  [[nodiscard]] bool varint(std::uint64_t& value) noexcept { return varint(value, kMaxVarint); }
  [[nodiscard]] bool bytes(std::string_view& value) noexcept {
    std::uint64_t length = 0;
    if (!varint(length, kMaxVarint32) || length > left_.size()) return false;
    value = left_.substr(0, length);
    left_.remove_prefix(length);
    return true;
  }
  // The value of a field whose tag was read.
  [[nodiscard]] bool skip(std::uint32_t tag) noexcept;

  // For a message that came as `bytes` of this one.
  [[nodiscard]] WireReader inner(std::string_view bytes) const noexcept { return {bytes, depth_ - 1}; }

 private:
  static constexpr std::size_t kMaxVarint = 10;
  static constexpr std::size_t kMaxVarint32 = 5;  // of tags and lengths, however they are padded

  WireReader(std::string_view bytes, int depth) noexcept : left_{bytes}, depth_{depth} {}

  // Most numbers, tags and lengths take one byte.
  [[nodiscard]] bool varint(std::uint64_t& value, std::size_t max_bytes) noexcept {
    if (left_.empty() || static_cast<unsigned char>(left_.front()) >= 0x80) return long_varint(value, max_bytes);
    value = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool long_varint(std::uint64_t& value, std::size_t max_bytes) noexcept;
  [[nodiscard]] bool advance(std::size_t size) noexcept;
  [[nodiscard]] bool skip_group(std::uint32_t field) noexcept;

  std::string_view left_;
  int depth_;
};

}  // namespace penstock::protocol
