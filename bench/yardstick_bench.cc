// The table beside what a reader would build first, and beside its own buckets with compare-and-swap (cas_table.h), all
// in one run on the same load.
//
//   build/release/bench/yardstick_bench --benchmark_filter='keys:1000000/' --benchmark_repetitions=5

#include <cstddef>
#include <cstdint>
#include <memory>

#include <benchmark/benchmark.h>

#include "bench/bench_tables.h"
#include "bench/cas_table.h"
#include "bench/table_load.h"
#include "bench/yardsticks.h"
#include "penstock/store/memory/memory_store.h"

namespace penstock::bench {
namespace {

using algorithm::Algorithm;
using algorithm::Limit;

// The table with the interface of the others.
class Ours {
 public:
  void submit(const store::Batch& batch, Instant now) {
    thread_local std::unique_ptr<store::MemoryStore> store;
    thread_local const store::Table* of = nullptr;
    if (of != shared_table().get()) [[unlikely]] {
      of = shared_table().get();
      store = std::make_unique<store::MemoryStore>(shared_table());
    }
    store->submit(batch, now, late_);
  }

 private:
  NeverLate late_;
};

template <class Map>
std::unique_ptr<Map> filled(std::uint32_t keys, const Limit& limit) {
  auto map = std::make_unique<Map>();
  map->reserve(keys);
  TableLoad load{limit, {.groups = 50}};
  load.set_cost(kBurst / 4);
  for (std::uint64_t first = 0; first < keys; first += load.size()) map->submit(load.these(first), kStart);
  return map;
}

template <>
std::unique_ptr<CasTable> filled<CasTable>(std::uint32_t keys, const Limit& limit) {
  auto table = std::make_unique<CasTable>(static_cast<std::uint32_t>(std::uint64_t{keys} * 3 / 16 + 1));
  const std::uint64_t charged = algorithm::decide(limit, {}, kStart, kBurst / 4).state.word;
  for (std::uint64_t number = 0; number < keys; ++number) table->insert(counter_number(number), limit, charged);
  return table;
}

template <>
std::unique_ptr<Ours> filled<Ours>(std::uint32_t, const Limit&) {
  return std::make_unique<Ours>();
}

template <class Map>
void hit(benchmark::State& state) {
  static std::unique_ptr<Map> map;  // shared by the threads
  static std::uint32_t keys = 0;
  const Limit limit = limit_of(Algorithm::gcra);
  set_up_table(state, {.algorithm = Algorithm::gcra, .keys = keys_of(state), .cost = kBurst / 4});
  if (state.thread_index() == 0 && keys != keys_of(state)) {
    map.reset();
    keys = keys_of(state);
    map = filled<Map>(keys, limit);
  }
  TableLoad load{limit, {.groups = batch_of(state)}, static_cast<std::uint64_t>(state.thread_index()) + 1};
  const auto advance =
      Nanoseconds{60'000'000 * static_cast<std::int64_t>(load.size()) * state.threads() / keys_of(state)};
  Instant now = kStart;
  for ([[maybe_unused]] const auto iteration : state) {
    map->submit(load.any_of(keys_of(state)), now);
    now += advance;
  }
  report(state, load.size());
}

void some_sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"keys", "batch"})->ArgsProduct({{50'000, 1'000'000, 10'000'000}, {1, 16}});
}

BENCHMARK_TEMPLATE(hit, Ours)->Apply(some_sizes)->Apply(one_and_two_threads);
BENCHMARK_TEMPLATE(hit, CasTable)->Apply(some_sizes)->Apply(one_and_two_threads);
BENCHMARK_TEMPLATE(hit, StripedFlatMap)->Apply(some_sizes)->Apply(one_and_two_threads);
BENCHMARK_TEMPLATE(hit, LockedMap)->Apply(some_sizes)->Apply(one_and_two_threads);

}  // namespace
}  // namespace penstock::bench
