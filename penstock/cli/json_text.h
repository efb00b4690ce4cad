#pragma once

#include <string>
#include <string_view>

namespace penstock::cli {

// A text that may stand in JSON: as it is, or, where it is no UTF-8 (which only `!!binary` brings into a file), with
// every byte beyond ASCII as "\xff".
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace penstock::cli
