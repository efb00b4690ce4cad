#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "penstock/algorithm/algorithm.h"
#include "penstock/algorithm/limit.h"
#include "penstock/base/instant.h"
#include "penstock/store/redis/resp.h"

namespace penstock::store::redis {

// A fixed window whose key names it, at an instant of the server's clock.
struct NamedWindow {
  std::int64_t number = 0;  // windows since 1970
  Nanoseconds left{0};      // until it ends
};
[[nodiscard]] NamedWindow named_window(const algorithm::Limit& limit, Instant now) noexcept;

// The cost that INCRBY can take; what is above is held at its end, which no limit admits.
[[nodiscard]] std::int64_t increment_of(std::uint64_t cost) noexcept;

// What a window that counts what it refuses decided, from the count after the cost was added.
[[nodiscard]] algorithm::Decision decision_after(const algorithm::Limit& limit, algorithm::Verb verb,
                                                 std::uint64_t cost, std::int64_t count_after, Instant now) noexcept;

// The waits of a decision that the script made on a named window.
void fill_in_waits(algorithm::Decision& decision, std::uint32_t capacity, Nanoseconds left) noexcept;

// The number that a reply to INCRBY or GET holds; nothing where it holds none. Nil is 0, and a counter that cannot be
// counted up any more is at its end.
[[nodiscard]] std::optional<std::int64_t> count_in(const Reply& reply) noexcept;

}  // namespace penstock::store::redis
