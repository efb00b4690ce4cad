#include "penstock/server/descriptor_limit.h"

#include <algorithm>
#include <limits>

#include <sys/resource.h>

namespace penstock::server {

std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::uint64_t>::max();
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

std::size_t connections_within(std::uint64_t descriptors, std::size_t loops) noexcept {
  const std::uint64_t kept = kReservedDescriptors + kDescriptorsPerLoop * (loops + 1);  // and the main thread's
  return descriptors > kept ? static_cast<std::size_t>(descriptors - kept) : 1;
}

}  // namespace penstock::server
