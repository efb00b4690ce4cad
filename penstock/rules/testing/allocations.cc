#include "penstock/rules/testing/allocations.h"

#include <cstdlib>
#include <new>

// The program's operator new, counted. In a file of its own, since gcc takes the pair apart when it inlines one half.

namespace {

std::size_t allocations = 0;  // the tests run in one thread

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace penstock::rules {

std::size_t allocations_so_far() noexcept { return allocations; }

}  // namespace penstock::rules
