#include "penstock/store/testing/allocation_count.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PENSTOCK_OPERATOR_NEW_IS_TAKEN
#endif
#endif

namespace penstock::store::testing {
namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

std::uint64_t allocation_count() noexcept { return allocations; }

}  // namespace penstock::store::testing

#ifndef PENSTOCK_OPERATOR_NEW_IS_TAKEN
void* operator new(std::size_t size) {
  ++penstock::store::testing::allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++penstock::store::testing::allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
