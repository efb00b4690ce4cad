#pragma once

#include <cstdint>

namespace penstock::store::testing {

// How often this thread called operator new so far. A program that links this has its own operator new.
[[nodiscard]] std::uint64_t allocation_count() noexcept;

}  // namespace penstock::store::testing
