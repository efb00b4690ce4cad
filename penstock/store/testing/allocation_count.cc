#include "penstock/store/testing/allocation_count.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace penstock::store::testing {
namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

std::uint64_t allocation_count() noexcept { return allocations; }

}  // namespace penstock::store::testing

void* operator new(std::size_t size) {
  ++penstock::store::testing::allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
