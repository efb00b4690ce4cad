// What a decision of the embedded store costs, from the charge to the decision: counters in random order, present ones
// and new ones, singly and in batches. Run: build/release/bench/table_bench

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "penstock/base/random.h"
#include "penstock/store/memory/memory_store.h"

namespace penstock::store {
namespace {

using algorithm::Algorithm;
using algorithm::Decision;
using algorithm::Limit;

constexpr Instant kStart = instant_from_unix_seconds(1'772'600'767);

class NeverLate final : public LateDecisions {
 public:
  void on_decided(const Ticket&, std::span<const Decision>) override {}
};

// Counters 0 to `keys` in random order, over and over, in batches of single charges.
class Load {
 public:
  Load(Algorithm algorithm, std::size_t keys, std::size_t batch)
      : limit_{Limit::create({.algorithm = algorithm, .amount = 1000, .window_seconds = 60, .burst = 1000}).value()},
        charges_(keys),
        groups_(batch, Group{.charge_count = 1}),
        decisions_(batch) {
    Random random{1};
    for (Charge& charge : charges_) {
      charge = {.counter = {.low = random.next(), .high = random.next()}, .limit = &limit_, .cost = 1};
    }
  }

  void submit_next(MemoryStore& store) {
    if (next_ + groups_.size() > charges_.size()) next_ = 0;
    store.submit(
        {.groups = groups_, .charges = std::span{charges_}.subspan(next_, groups_.size()), .decisions = decisions_},
        kStart, late_);
    next_ += groups_.size();
    benchmark::DoNotOptimize(decisions_.data());
  }
  void submit_all(MemoryStore& store) {
    next_ = 0;
    for (std::size_t done = 0; done + groups_.size() <= charges_.size(); done += groups_.size()) submit_next(store);
  }
  [[nodiscard]] bool at_end() const { return next_ + groups_.size() > charges_.size(); }

 private:
  const Limit limit_;
  std::vector<Charge> charges_;
  std::vector<Group> groups_;
  std::vector<Decision> decisions_;
  NeverLate late_;
  std::size_t next_ = 0;
};

std::shared_ptr<Table> table_for(std::size_t keys) { return Table::create({.capacity_keys = keys}).value(); }

void hit(benchmark::State& state, Algorithm algorithm) {
  const auto keys = static_cast<std::size_t>(state.range(0)), batch = static_cast<std::size_t>(state.range(1));
  Load load{algorithm, keys, batch};
  MemoryStore store{table_for(keys)};
  load.submit_all(store);
  for ([[maybe_unused]] const auto iteration : state) load.submit_next(store);
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

void insert(benchmark::State& state) {
  const auto keys = static_cast<std::size_t>(state.range(0)), batch = static_cast<std::size_t>(state.range(1));
  Load load{Algorithm::gcra, keys, batch};
  auto store = std::make_unique<MemoryStore>(table_for(keys));
  for ([[maybe_unused]] const auto iteration : state) {
    if (load.at_end()) {
      state.PauseTiming();
      store = std::make_unique<MemoryStore>(table_for(keys));
      state.ResumeTiming();
    }
    load.submit_next(*store);
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

constexpr std::int64_t kSmall = 50'000, kLarge = 1'000'000;

BENCHMARK_CAPTURE(hit, gcra, Algorithm::gcra)->ArgsProduct({{kSmall, kLarge}, {1, 16}})->ArgNames({"keys", "batch"});
BENCHMARK_CAPTURE(hit, fixed_window, Algorithm::fixed_window)
    ->ArgsProduct({{kSmall, kLarge}, {1, 16}})
    ->ArgNames({"keys", "batch"});
BENCHMARK(insert)->ArgsProduct({{kSmall, kLarge}, {1, 16}})->ArgNames({"keys", "batch"});

}  // namespace
}  // namespace penstock::store
