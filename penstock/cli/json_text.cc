#include "penstock/cli/json_text.h"

#include <fmt/format.h>

#include "penstock/base/utf8.h"

namespace penstock::cli {

std::string json_text(std::string_view text) {
  if (is_utf8(text)) return std::string{text};
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x80 ? std::string{c} : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace penstock::cli
