#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/base/error.h"

namespace penstock::store {

enum class PageSize : std::uint8_t { ordinary, huge };

// Zeroed memory straight from the system. A page becomes resident when it is first touched. From two MiB on the memory
// is aligned for huge pages and asks for them (transparent huge pages, `madvise`), since one counter among many then
// costs one miss less; that makes two MiB resident at a touch, and all of a table soon after a few counters for each of
// its huge pages. Where the system has none it is silently made of ordinary ones.
// Threading: Value, moved but not copied.
class TableMemory {
 public:
  // Errors: resource_exhausted where the memory is not to be had.
  [[nodiscard]] static Result<TableMemory> map(std::uint64_t bytes);

  TableMemory(TableMemory&& other) noexcept;
  TableMemory& operator=(TableMemory&&) = delete;
  TableMemory(const TableMemory&) = delete;
  TableMemory& operator=(const TableMemory&) = delete;
  ~TableMemory();

  // Aligned for a page, or a huge one from two MiB on.
  [[nodiscard]] void* data() const noexcept { return data_; }

  // What the first page really is; asking touches it.
  [[nodiscard]] PageSize page_size() const noexcept { return page_size_; }

 private:
  TableMemory(void* mapping, std::size_t mapped_bytes) noexcept : mapping_{mapping}, mapped_bytes_{mapped_bytes} {}

  void* mapping_;
  std::size_t mapped_bytes_;
  void* data_ = nullptr;
  PageSize page_size_ = PageSize::ordinary;
};

}  // namespace penstock::store
