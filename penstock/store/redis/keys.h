#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::store::redis {

// The names of counters in the store, but for those of envoyproxy/ratelimit (CounterNames::append_original_key).

// Appends "{FFFFFFFF}" and the identity: F are eight letters that all counters of one descriptor share, so that a
// cluster keeps them together. Every byte may stand in an identity.
void append_compact_key(std::string& out, std::uint64_t family, const std::array<std::uint8_t, 16>& identity);

// The slot of a key in a cluster: CRC16 (XMODEM) of what stands between the first '{' and the next '}', or of the whole
// key where that is nothing, modulo 16,384. Source: the Redis cluster specification.
inline constexpr std::uint16_t kSlots = 16'384;
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

}  // namespace penstock::store::redis
