#include "penstock/transport/testing/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> count{0};

void* counted(std::size_t size) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number that orders nothing
  return std::malloc(size);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = counted(size); memory != nullptr) return memory;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace penstock::transport::testing {

long allocations() noexcept { return count.load(std::memory_order_relaxed); }

}  // namespace penstock::transport::testing
