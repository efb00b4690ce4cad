#pragma once

namespace penstock::internal {
[[noreturn]] void check_failed(const char* expression, const char* file, int line) noexcept;
}  // namespace penstock::internal

// States what must be true unless this program is wrong. A false one prints the place and aborts: a limiter that goes
// on with a broken invariant gives wrong answers quietly. Never for input from outside.
#define PENSTOCK_CHECK(expression)                    \
  (__builtin_expect(static_cast<bool>(expression), 1) \
       ? static_cast<void>(0)                         \
       : ::penstock::internal::check_failed(#expression, __FILE__, __LINE__))

// As PENSTOCK_CHECK, where the check costs too much for a release.
#ifdef NDEBUG
#define PENSTOCK_DCHECK(expression) static_cast<void>(0)
#else
#define PENSTOCK_DCHECK(expression) PENSTOCK_CHECK(expression)
#endif
