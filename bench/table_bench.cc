// What a decision of the embedded store costs, from the charge to the decision. README.md says how to read it; the
// yardsticks stand in yardstick_bench.cc.
//
//   build/release/bench/table_bench --benchmark_filter='hit/gcra/keys:50000/' --benchmark_repetitions=5

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <benchmark/benchmark.h>

#include "bench/bench_tables.h"
#include "bench/table_load.h"
#include "penstock/store/memory/memory_store.h"

namespace penstock::bench {
namespace {

using algorithm::Algorithm;
using algorithm::Limit;
using algorithm::Outcome;
using store::MemoryStore;

// Asks a loop's front of the shared table for batch after batch. `advance` is how much time passes in each.
class Asking {
 public:
  Asking(const benchmark::State& state, const Limit& limit, const BatchShape& shape)
      : load_{limit, shape, static_cast<std::uint64_t>(state.thread_index()) + 1}, counters_{keys_of(state)} {}

  void run(benchmark::State& state, Nanoseconds advance, Outcome expected) {
    std::unique_ptr<MemoryStore> store;  // made in the loop: before it another thread may still fill the table
    Instant now = kStart;
    for ([[maybe_unused]] const auto iteration : state) {
      if (store == nullptr) [[unlikely]] {
        store = std::make_unique<MemoryStore>(shared_table());
        now = table_time();
      }
      store->submit(load_.any_of(counters_), now, late_);
      now += advance;
    }
    if (state.thread_index() == 0) set_table_time(now);
    expect_most(state, load_, expected);
    report(state, load_.size());
  }
  void make_one_key() noexcept { counters_ = 1; }

 private:
  TableLoad load_;
  std::uint32_t counters_;
  NeverLate late_;
};

// In which as much is refilled as a batch of each thread takes, all counters together.
Nanoseconds refill_time(const benchmark::State& state, std::size_t charges) {
  const auto taken = static_cast<std::int64_t>(charges) * state.threads();
  return Nanoseconds{60'000'000 * taken / static_cast<std::int64_t>(keys_of(state))};
}

// Present counters that have room.
void hit(benchmark::State& state, Algorithm algorithm) {
  const Limit limit = limit_of(algorithm);
  set_up_table(state, {.algorithm = algorithm, .keys = keys_of(state), .cost = kBurst / 4});
  Asking asking{state, limit, {.groups = batch_of(state)}};
  asking.run(state, refill_time(state, batch_of(state)), Outcome::allowed);
}

// Present counters that are over.
void deny(benchmark::State& state) {
  const Limit limit = limit_of(Algorithm::gcra);
  set_up_table(state, {.algorithm = Algorithm::gcra, .keys = keys_of(state), .cost = kBurst});
  Asking asking{state, limit, {.groups = batch_of(state)}};
  asking.run(state, Nanoseconds{0}, Outcome::denied);
}

// All or nothing over three counters.
void groups_of_3(benchmark::State& state) {
  const Limit limit = limit_of(Algorithm::gcra);
  set_up_table(state, {.algorithm = Algorithm::gcra, .keys = keys_of(state), .cost = kBurst / 4});
  Asking asking{state, limit, {.groups = batch_of(state), .charges_a_group = 3}};
  asking.run(state, refill_time(state, 3 * batch_of(state)), Outcome::allowed);
}

// All threads on one counter, of a limit that none of them exhausts.
void hot_key(benchmark::State& state) {
  constexpr std::uint32_t kPlenty = 4'000'000'000;
  const Limit limit =
      Limit::create({.algorithm = Algorithm::gcra, .amount = kPlenty, .window_seconds = 60, .burst = kPlenty}).value();
  set_up_table(state, {.algorithm = Algorithm::gcra, .keys = keys_of(state), .cost = kBurst / 4});
  Asking asking{state, limit, {.groups = batch_of(state)}};
  asking.make_one_key();
  asking.run(state, Nanoseconds{1'000}, Outcome::allowed);
}

// A stream of counters that were never seen: each is charged once, and as good as fresh when `live` others have come.
class Turnover {
 public:
  Turnover(std::shared_ptr<store::Table> table, std::uint32_t live, std::size_t batch)
      : store_{std::move(table)},
        load_{limit_, {.groups = batch}},
        step_{Nanoseconds{std::chrono::seconds{1'000}} * static_cast<std::int64_t>(batch) / live} {}

  void ask() {
    store_.submit(load_.these(next_), now_, late_);
    next_ += load_.size();
    now_ += step_;
  }
  void ask_until(std::uint64_t counters) {
    while (next_ < counters) ask();
  }
  // Since it was last asked for.
  double evicted_share() {
    const std::uint64_t evicted = store_.metrics().evicted.value();
    const double share = static_cast<double>(evicted - evicted_) / static_cast<double>(next_ - first_);
    evicted_ = evicted;
    first_ = next_;
    return share;
  }

 private:
  const Limit limit_ =
      Limit::create({.algorithm = Algorithm::gcra, .amount = 1, .window_seconds = 1'000, .burst = 1}).value();
  MemoryStore store_;
  TableLoad load_;
  const Nanoseconds step_;
  NeverLate late_;
  Instant now_ = kStart;
  std::uint64_t next_ = 0, first_ = 0, evicted_ = 0;
};

// Newcomers, in a table at its stated load.
void miss(benchmark::State& state) {
  Turnover turnover{store::Table::create({.capacity_keys = keys_of(state)}).value(), keys_of(state), batch_of(state)};
  turnover.ask_until(2 * std::uint64_t{keys_of(state)});
  for ([[maybe_unused]] const auto iteration : state) turnover.ask();
  report(state, batch_of(state));
}

// Of all insertions the share that pushes out a counter which is not fresh, by the percentage of slots that are live:
// while the table fills, and when counters come and go.
void evictions(benchmark::State& state) {
  constexpr std::uint64_t kBytes = 128 * 150'000, kSlots = 7 * 150'000;
  const auto live = static_cast<std::uint32_t>(kSlots * static_cast<std::uint64_t>(state.range(0)) / 1'000);
  Turnover turnover{store::Table::create({.capacity_bytes = kBytes}).value(), live, 1};
  for ([[maybe_unused]] const auto iteration : state) {
    turnover.ask_until(live);
    state.counters["filling"] = turnover.evicted_share();
    turnover.ask_until(2 * std::uint64_t{live});
    turnover.evicted_share();
    turnover.ask_until(6 * std::uint64_t{live});
    state.counters["turnover"] = turnover.evicted_share();
  }
}

// The load without a table: what of the other figures is not the table's.
void load_alone(benchmark::State& state) {
  const Limit limit = limit_of(Algorithm::gcra);
  TableLoad load{limit, {.groups = batch_of(state)}};
  for ([[maybe_unused]] const auto iteration : state) {
    benchmark::DoNotOptimize(load.any_of(keys_of(state)).charges.data());
    benchmark::ClobberMemory();
  }
  report(state, load.size());
}

void other_algorithms(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"keys", "batch"})->Args({50'000, 1})->Args({1'000'000, 16});
}

BENCHMARK(load_alone)->Apply(sizes);
BENCHMARK_CAPTURE(hit, gcra, Algorithm::gcra)->Apply(sizes)->Apply(one_and_two_threads);
BENCHMARK_CAPTURE(hit, fixed_window, Algorithm::fixed_window)->Apply(other_algorithms);
BENCHMARK_CAPTURE(hit, sliding_window, Algorithm::sliding_window)->Apply(other_algorithms);
BENCHMARK_CAPTURE(hit, sliding_log, Algorithm::sliding_log)->Args({50'000, 1})->ArgNames({"keys", "batch"});
BENCHMARK(deny)->Apply(sizes)->Apply(one_and_two_threads);
BENCHMARK(miss)->Apply(sizes);
BENCHMARK(evictions)->ArgName("permille")->Arg(600)->Arg(650)->Arg(700)->Arg(762)->Arg(800)->Arg(900)->Iterations(1);
BENCHMARK(groups_of_3)->Apply(sizes)->Apply(one_and_two_threads);
BENCHMARK(hot_key)->Args({50'000, 1})->Args({50'000, 16})->ArgNames({"keys", "batch"})->Apply(one_and_two_threads);

}  // namespace
}  // namespace penstock::bench
