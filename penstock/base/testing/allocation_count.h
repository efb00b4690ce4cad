#pragma once

#include <cstdint>

namespace penstock {

// How often this thread called operator new so far. Linking penstock_base_testing gives a test program its own operator
// new; but not under the thread sanitizer, which brings one too: there it is always 0.
[[nodiscard]] std::uint64_t allocation_count() noexcept;

}  // namespace penstock
