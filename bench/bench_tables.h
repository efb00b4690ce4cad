#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <benchmark/benchmark.h>

#include "bench/table_load.h"
#include "penstock/store/memory/table.h"

namespace penstock::bench {

// The arguments of all benches of the table: how many counters there are, and how many groups a batch has.
[[nodiscard]] std::uint32_t keys_of(const benchmark::State& state);
[[nodiscard]] std::size_t batch_of(const benchmark::State& state);

// 50 k, 1 M, 10 M and 100 M counters by batches of 1, 4, 16 and 64.
void sizes(benchmark::internal::Benchmark* bench);
void one_and_two_threads(benchmark::internal::Benchmark* bench);

struct TableContent {
  algorithm::Algorithm algorithm = algorithm::Algorithm::gcra;
  std::uint32_t keys = 0;
  std::uint64_t cost = 0;  // that each counter was charged once

  friend bool operator==(const TableContent&, const TableContent&) = default;
};

// Makes a table at its stated load the one that all threads of this benchmark share. It is kept for the next one that
// wants the same, so that not every run fills it anew. To be called by each thread before its loop.
void set_up_table(const benchmark::State& state, const TableContent& content);
[[nodiscard]] const std::shared_ptr<store::Table>& shared_table();

// Where the time of that table stands: the next benchmark on it goes on from there. Set by one thread after its loop.
[[nodiscard]] Instant table_time();
void set_table_time(Instant now);

// The time of one charge: of all threads together where there are several, and as `each`.
void report(benchmark::State& state, std::size_t charges_a_batch);

// Fails the benchmark where most of its last batch was not answered as it means to measure; a few may have been
// evicted.
void expect_most(benchmark::State& state, const TableLoad& load, algorithm::Outcome outcome);

}  // namespace penstock::bench
