#include "penstock/store/redis/keys.h"

namespace penstock::store::redis {
namespace {

constexpr std::array<std::uint16_t, 256> make_crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    unsigned crc = i << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000U) != 0 ? crc << 1 ^ 0x1021U : crc << 1;
    table[i] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

constexpr std::array<std::uint16_t, 256> kCrcTable = make_crc_table();

std::uint16_t crc16(std::string_view bytes) noexcept {
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc = (crc << 8 & 0xffffU) ^ kCrcTable[(crc >> 8 ^ static_cast<unsigned char>(byte)) & 0xffU];
  }
  return static_cast<std::uint16_t>(crc);
}

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

void append_compact_key(std::string& out, std::uint64_t family, const std::array<std::uint8_t, 16>& identity) {
  out.push_back('{');
  for (int letter = 0; letter < 8; ++letter) out.push_back(kLetters[family >> (6 * letter) & 63U]);
  out.push_back('}');
  for (const std::uint8_t byte : identity) out.push_back(static_cast<char>(byte));
}

std::uint16_t slot_of(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return static_cast<std::uint16_t>(crc16(key) % kSlots);
}

}  // namespace penstock::store::redis
