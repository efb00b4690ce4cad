#include "penstock/transport/block_pool.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

namespace penstock::transport {

// Stands before the memory that is handed out; its size keeps that memory aligned for every type.
struct alignas(std::max_align_t) BlockPool::Block {
  Block* next;
  std::size_t size;  // of the memory behind it

  [[nodiscard]] void* memory() noexcept { return this + 1; }
  [[nodiscard]] static Block* of(void* memory) noexcept { return static_cast<Block*>(memory) - 1; }
};

namespace {

BlockPool& pool_of(void* user) noexcept { return *static_cast<BlockPool*>(user); }

void* hook_malloc(std::size_t size, void* user) { return pool_of(user).allocate(size); }
void hook_free(void* memory, void* user) { pool_of(user).release(memory); }
void* hook_realloc(void* memory, std::size_t size, void* user) { return pool_of(user).resize(memory, size); }

void* hook_calloc(std::size_t count, std::size_t size, void* user) {
  if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size) return nullptr;
  void* memory = pool_of(user).allocate(count * size);
  if (memory != nullptr) std::memset(memory, 0, count * size);
  return memory;
}

}  // namespace

BlockPool::BlockPool() noexcept
    : hooks_{.mem_user_data = this,
             .malloc = hook_malloc,
             .free = hook_free,
             .calloc = hook_calloc,
             .realloc = hook_realloc} {}

BlockPool::~BlockPool() { trim(); }

void BlockPool::trim() noexcept {
  for (Block*& block : free_) {
    while (block != nullptr) {
      Block* next = block->next;
      ::operator delete(block);
      block = next;
    }
  }
  kept_bytes_ = 0;
}

void* BlockPool::allocate(std::size_t size) noexcept {
  const std::size_t list = size == 0 ? 0 : (size - 1) / kStep;
  if (list < kLists) {
    size = (list + 1) * kStep;
    if (Block* block = free_[list]; block != nullptr) {
      free_[list] = block->next;
      kept_bytes_ -= size;
      return block->memory();
    }
  } else if (size > std::numeric_limits<std::size_t>::max() - sizeof(Block)) {
    return nullptr;
  }
  void* memory = ::operator new(sizeof(Block) + size, std::nothrow);
  if (memory == nullptr) return nullptr;
  return (new (memory) Block{.next = nullptr, .size = size})->memory();
}

void* BlockPool::resize(void* memory, std::size_t size) noexcept {
  if (memory == nullptr) return allocate(size);
  const std::size_t old_size = Block::of(memory)->size;
  if (size <= old_size) return memory;
  void* larger = allocate(size);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, memory, old_size);
  release(memory);
  return larger;
}

void BlockPool::release(void* memory) noexcept {
  if (memory == nullptr) return;
  Block* block = Block::of(memory);
  const std::size_t size = block->size;
  if (size > kLists * kStep || kept_bytes_ + size > kMaxKeptBytes) {
    ::operator delete(block);
    return;
  }
  Block*& head = free_[size / kStep - 1];
  block->next = head;
  head = block;
  kept_bytes_ += size;
}

}  // namespace penstock::transport
