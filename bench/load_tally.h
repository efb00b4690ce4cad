#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "bench/rls_wire.h"

namespace penstock::bench {

// What a load run saw: every latency, and every answer. Threading: Value.
class LoadTally {
 public:
  explicit LoadTally(std::size_t requests) { nanoseconds_.reserve(requests); }

  void add(const std::optional<WireVerdict>& verdict, std::uint64_t nanoseconds) {
    nanoseconds_.push_back(
        static_cast<std::uint32_t>(std::min<std::uint64_t>(nanoseconds, std::numeric_limits<std::uint32_t>::max())));
    if (!verdict || (verdict->code != 1 && verdict->code != 2)) {
      ++errors;
      return;
    }
    ++(verdict->code == 1 ? ok : over);
    least = std::min(least, verdict->remaining);
    most = std::max(most, verdict->remaining);
    sum += verdict->remaining;
  }

  [[nodiscard]] std::size_t answered() const { return nanoseconds_.size(); }

  // Whether each answer told one less than another, as one counter that nobody else uses must: the remaining of N
  // answers are N neighbouring numbers, told by their ends and their sum.
  [[nodiscard]] bool counted_exactly() const {
    return ok == answered() && ok > 0 && most - least + 1 == ok && sum * 2 == (most + least) * ok;
  }

  // The latency that a share of all requests stayed below, in microseconds. Requires: an answer.
  [[nodiscard]] double quantile(double share) {
    const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(nanoseconds_.size() - 1));
    std::nth_element(nanoseconds_.begin(), nanoseconds_.begin() + rank, nanoseconds_.end());
    return nanoseconds_[static_cast<std::size_t>(rank)] / 1e3;
  }

  std::uint64_t ok = 0;
  std::uint64_t over = 0;
  std::uint64_t errors = 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  std::uint64_t sum = 0;  // 4e9 x requests: fits up to four thousand million requests

 private:
  std::vector<std::uint32_t> nanoseconds_;
};

}  // namespace penstock::bench
