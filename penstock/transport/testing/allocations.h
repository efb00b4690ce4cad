#pragma once

namespace penstock::transport::testing {

// Calls of operator new in this program so far. Linking this replaces operator new and delete: for one test program.
[[nodiscard]] long allocations() noexcept;

}  // namespace penstock::transport::testing
