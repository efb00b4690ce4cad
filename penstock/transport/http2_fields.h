#pragma once

#include <cstdint>
#include <string_view>

#include <nghttp2/nghttp2.h>

namespace penstock::transport {

// nghttp2 speaks of unsigned, writable bytes; these are the only places where that is cast. It never writes to a field.
[[nodiscard]] inline const std::uint8_t* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}

[[nodiscard]] inline nghttp2_nv field_of(std::string_view name, std::string_view value, std::uint8_t flags) noexcept {
  return {.name = const_cast<std::uint8_t*>(bytes_of(name)),
          .value = const_cast<std::uint8_t*>(bytes_of(value)),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = flags};
}

}  // namespace penstock::transport
