#include "penstock/store/memory/table_memory.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace penstock::store {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// One touch makes all of a huge page resident, and only one page of an ordinary one.
bool is_huge(void* page) {
  std::atomic_ref<char>{*static_cast<char*>(page)}.store(0, std::memory_order_relaxed);
  std::vector<unsigned char> resident(kHugePageBytes / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  return ::mincore(page, kHugePageBytes, resident.data()) == 0 &&
         std::ranges::all_of(resident, [](unsigned char page_state) { return (page_state & 1) != 0; });
}

}  // namespace

Result<TableMemory> TableMemory::map(std::uint64_t bytes) {
  const bool large = bytes >= kHugePageBytes;
  std::size_t room = large ? rounded_up(bytes, kHugePageBytes) + kHugePageBytes : std::max<std::size_t>(bytes, 1);
  void* const mapping = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return fail(ErrorCode::resource_exhausted, fmt::format("{} bytes of memory are not free", bytes));
  }
  TableMemory memory{mapping, room};
  memory.data_ = mapping;
  if (!large) return memory;
  std::align(kHugePageBytes, bytes, memory.data_, room);
  if (::madvise(memory.data_, rounded_up(bytes, kHugePageBytes), MADV_HUGEPAGE) == 0 && is_huge(memory.data_)) {
    memory.page_size_ = PageSize::huge;
  }
  return memory;
}

TableMemory::TableMemory(TableMemory&& other) noexcept
    : mapping_{std::exchange(other.mapping_, nullptr)},
      mapped_bytes_{other.mapped_bytes_},
      data_{other.data_},
      page_size_{other.page_size_} {}

TableMemory::~TableMemory() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
}

}  // namespace penstock::store
