#include "penstock/base/testing/allocation_count.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PENSTOCK_OPERATOR_NEW_IS_TAKEN
#endif
#endif

namespace penstock {
namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

std::uint64_t allocation_count() noexcept { return allocations; }

#ifndef PENSTOCK_OPERATOR_NEW_IS_TAKEN
namespace {

void* counted(std::size_t size) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}

void* counted(std::size_t size, std::align_val_t alignment) noexcept {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}

}  // namespace
#endif

}  // namespace penstock

#ifndef PENSTOCK_OPERATOR_NEW_IS_TAKEN
void* operator new(std::size_t size) {
  if (void* memory = penstock::counted(size)) return memory;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = penstock::counted(size, alignment)) return memory;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return penstock::counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
#endif
