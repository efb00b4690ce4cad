#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::server {

// Raises the process's limit of file descriptors as far as it may (RLIMIT_NOFILE, soft to hard). Returns what it is.
std::uint64_t raise_descriptor_limit() noexcept;

// Descriptors that are not connections: the standard ones, ports, signals, files that are read, the debug port's
// connections, and a few to spare.
inline constexpr std::uint64_t kReservedDescriptors = 64;
inline constexpr std::uint64_t kDescriptorsPerLoop = 3;  // epoll, event, timer

// How many connections `descriptors` leave room for; at least 1. Pure.
[[nodiscard]] std::size_t connections_within(std::uint64_t descriptors, std::size_t loops) noexcept;

}  // namespace penstock::server
