#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/algorithm/limit.h"
#include "penstock/store/store.h"

// What the benches of the table ask it: batches of charges on counters in random order. A counter's hash is computed
// from its number when it is asked for, so that the load itself touches little memory.

namespace penstock::bench {

// The finalizer of MurmurHash3 with other multipliers ("mix13", Stafford 2011): every bit depends on every bit.
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

[[nodiscard]] inline Hash128 counter_number(std::uint64_t number) noexcept {
  const std::uint64_t low = mixed(number + 1);
  return {.low = low, .high = low * 0xd6e8feb86659fd93u};
}

inline constexpr Instant kStart = instant_from_unix_seconds(1'772'600'767);
inline constexpr std::uint32_t kBurst = 1000;

// 1,000 a minute with a burst of 1,000, or that many in a window of a minute.
[[nodiscard]] inline algorithm::Limit limit_of(algorithm::Algorithm algorithm) {
  return algorithm::Limit::create({.algorithm = algorithm, .amount = kBurst, .window_seconds = 60, .burst = kBurst})
      .value();
}

struct BatchShape {
  std::size_t groups = 1;
  std::uint32_t charges_a_group = 1;
};

class TableLoad {
 public:
  TableLoad(const algorithm::Limit& limit, const BatchShape& shape, std::uint64_t seed = 1)
      : charges_(shape.groups * shape.charges_a_group),
        groups_(shape.groups, store::Group{.charge_count = shape.charges_a_group,
                                           .mode = shape.charges_a_group == 1 ? store::GroupMode::each
                                                                              : store::GroupMode::all_or_nothing}),
        decisions_(charges_.size()),
        sequence_{mixed(seed)} {
    for (store::Charge& charge : charges_) charge = {.limit = &limit, .cost = 1};
  }

  // Any of the counters 0 to `counters`, in the order of a linear congruential generator (Knuth's MMIX).
  const store::Batch& any_of(std::uint32_t counters) noexcept {
    for (store::Charge& charge : charges_) {
      sequence_ = sequence_ * 6364136223846793005u + 1442695040888963407u;
      charge.counter = counter_number((sequence_ >> 32) * counters >> 32);
    }
    return batch_;
  }

  // The counters from `first` on.
  const store::Batch& these(std::uint64_t first) noexcept {
    for (store::Charge& charge : charges_) charge.counter = counter_number(first++);
    return batch_;
  }

  void set_cost(std::uint64_t cost) noexcept {
    for (store::Charge& charge : charges_) charge.cost = cost;
  }
  [[nodiscard]] std::size_t size() const noexcept { return charges_.size(); }
  [[nodiscard]] std::span<const algorithm::Decision> decisions() const noexcept { return decisions_; }

 private:
  std::vector<store::Charge> charges_;
  std::vector<store::Group> groups_;
  std::vector<algorithm::Decision> decisions_;
  const store::Batch batch_{.groups = groups_, .charges = charges_, .decisions = decisions_};
  std::uint64_t sequence_;
};

class NeverLate final : public store::LateDecisions {
 public:
  void on_decided(const store::Ticket&, std::span<const algorithm::Decision>) override {}
};

}  // namespace penstock::bench
