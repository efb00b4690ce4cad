#pragma once

#include <cstddef>

namespace penstock::rules {

// How often this test program has asked for memory. Only for tests that run in one thread.
[[nodiscard]] std::size_t allocations_so_far() noexcept;

}  // namespace penstock::rules
