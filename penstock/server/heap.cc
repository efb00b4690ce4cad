#include "penstock/server/heap.h"

#include <cstddef>

#include <malloc.h>

namespace penstock::server {

void return_freed_memory() noexcept {
#if defined(__GLIBC__)
  constexpr std::size_t kWorthReturning = std::size_t{64} * 1024 * 1024;
  if (::mallinfo2().fordblks > kWorthReturning) ::malloc_trim(0);
#endif
}

}  // namespace penstock::server
