#include "penstock/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace penstock::internal {

void check_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
  std::abort();
}

}  // namespace penstock::internal
