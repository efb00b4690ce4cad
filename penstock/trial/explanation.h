#pragma once

#include <string>
#include <string_view>

#include "penstock/limiter/verdict.h"

namespace penstock::trial {

// "OK" or "OVER_LIMIT".
[[nodiscard]] std::string_view to_string(limiter::Code code) noexcept;

// Which rule decided a descriptor, where it stands, what it says, and how its counter stands now.
[[nodiscard]] std::string explain(const limiter::Status& status);

}  // namespace penstock::trial
