#include "bench/bench_tables.h"

#include "penstock/store/memory/memory_store.h"

namespace penstock::bench {
namespace {

struct Kept {
  TableContent content;
  std::shared_ptr<store::Table> table;
  Instant now = kStart;
};

Kept& kept() {
  static Kept one;
  return one;
}

std::shared_ptr<store::Table> filled_table(const TableContent& content) {
  const algorithm::Limit limit = limit_of(content.algorithm);
  const std::uint64_t slots = content.keys * static_cast<std::uint64_t>(limit.state_words());
  std::shared_ptr<store::Table> table{store::Table::create({.capacity_keys = slots}).value()};
  store::MemoryStore store{table};
  TableLoad load{limit, {.groups = 64}};
  load.set_cost(content.cost);
  NeverLate late;
  for (std::uint64_t first = 0; first < content.keys; first += load.size()) {
    store.submit(load.these(first), kStart, late);
  }
  return table;
}

}  // namespace

std::uint32_t keys_of(const benchmark::State& state) { return static_cast<std::uint32_t>(state.range(0)); }
std::size_t batch_of(const benchmark::State& state) { return static_cast<std::size_t>(state.range(1)); }

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"keys", "batch"})->ArgsProduct({{50'000, 1'000'000, 10'000'000, 100'000'000}, {1, 4, 16, 64}});
}

void one_and_two_threads(benchmark::internal::Benchmark* bench) { bench->ThreadRange(1, 2)->UseRealTime(); }

void set_up_table(const benchmark::State& state, const TableContent& content) {
  if (state.thread_index() != 0 || (kept().table != nullptr && kept().content == content)) return;
  kept() = {};  // not two at once
  kept() = {.content = content, .table = filled_table(content)};
}

const std::shared_ptr<store::Table>& shared_table() { return kept().table; }

Instant table_time() { return kept().now; }
void set_table_time(Instant now) { kept().now = now; }

void report(benchmark::State& state, std::size_t charges_a_batch) {
  const auto charges = static_cast<std::int64_t>(charges_a_batch) * state.iterations();
  state.SetItemsProcessed(charges);
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(charges), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void expect_most(benchmark::State& state, const TableLoad& load, algorithm::Outcome outcome) {
  std::size_t others = 0;
  for (const algorithm::Decision& decision : load.decisions()) others += decision.outcome != outcome;
  if (2 * others > load.size()) state.SkipWithError("another outcome than this benchmark is about");
}

}  // namespace penstock::bench
