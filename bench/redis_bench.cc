// Decisions through a RedisStore and a redis-server of its own, with several batches under way, as a busy node has
// them. What counts is the server's CPU a decision, from its own figures: it is what a fleet shares. Run it alone:
//
//     ninja -C build/release redis_bench && build/release/bench/redis_bench [SECONDS a line]

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "penstock/store/redis/redis_store.h"
#include "penstock/store/redis/testing/local_redis.h"
#include "penstock/store/testing/ledger.h"

namespace penstock::store::redis {
namespace {

using algorithm::Algorithm;
using algorithm::Limit;
using algorithm::LimitOptions;
using store::testing::GroupOf;

constexpr std::size_t kGroupsPerBatch = 64;
constexpr std::size_t kBatchesUnderWay = 8;
constexpr std::size_t kKeys = 50'000;

struct Line {
  std::string name;
  std::vector<LimitOptions> limits;  // of one group
  GroupMode mode = GroupMode::each;
};

double seconds_of(std::string_view info, std::string_view field) {
  const std::size_t at = info.find(field);
  return at == std::string_view::npos ? 0 : std::strtod(info.data() + at + field.size() + 1, nullptr);
}

double server_cpu(const testing::LocalRedis& server) {
  const std::string info = server.run({"INFO", "cpu"});
  return seconds_of(info, "used_cpu_user") + seconds_of(info, "used_cpu_sys");
}

double own_cpu() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double wall() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Instant instant() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return instant_from_unix_seconds(now.tv_sec) + Nanoseconds{now.tv_nsec};
}

class Bench {
 public:
  explicit Bench(double seconds) : seconds_{seconds} {
    wires_.serve(store_);
    while (!store_.ready()) {
      store_.tick(instant());
      wires_.turn(instant());
    }
  }

  void run(const Line& line) {
    server_.run({"FLUSHALL"});
    std::vector<Limit> limits;
    for (const LimitOptions& options : line.limits) limits.push_back(Limit::create(options).value());
    measure(line, limits, seconds_ / 10);  // warm
    measure(line, limits, seconds_);
    fmt::print("{:<28} {:>9.0f} decisions/s, server {:5.2f} us each ({:>8.0f} per core), own {:5.2f} us\n", line.name,
               rate_, server_us_, 1e6 / server_us_, own_us_);
  }

 private:
  void measure(const Line& line, const std::vector<Limit>& limits, double seconds) {
    store::testing::Ledger ledger{store_};
    const double server_began = server_cpu(server_), own_began = own_cpu(), began = wall();
    std::uint64_t decisions = 0;
    while (wall() - began < seconds) {
      for (std::size_t batch = 0; batch < kBatchesUnderWay; ++batch) {
        ledger.submit(next_batch(line, limits), instant());
        decisions += kGroupsPerBatch * limits.size();
      }
      while (store_.pending() > 0) wires_.turn(instant());
    }
    const auto count = static_cast<double>(decisions);
    rate_ = count / (wall() - began);
    own_us_ = (own_cpu() - own_began) / count * 1e6;
    server_us_ = (server_cpu(server_) - server_began) / count * 1e6;
  }

  std::vector<GroupOf> next_batch(const Line& line, const std::vector<Limit>& limits) {
    std::vector<GroupOf> groups(kGroupsPerBatch);
    for (GroupOf& group : groups) {
      group.mode = line.mode;
      next_key_ = (next_key_ + 1) % kKeys;
      for (std::uint64_t i = 0; i < limits.size(); ++i) {
        const Hash128 counter = {.low = next_key_, .high = i};
        group.charges.push_back({.counter = counter, .limit = &limits[i], .cost = 1});
      }
    }
    return groups;
  }

  double seconds_;
  testing::LocalRedis server_;
  testing::BlockingWires wires_;
  RedisStore store_{{.endpoints = {server_.endpoint()}, .deadline = std::chrono::seconds{10}}, wires_};
  std::uint64_t next_key_ = 0;
  double rate_ = 0, server_us_ = 0, own_us_ = 0;
};

LimitOptions limit(Algorithm algorithm, bool counts_refused = false) {
  return {
      .algorithm = algorithm, .amount = 1'000, .window_seconds = 60, .burst = 1'000, .count_refused = counts_refused};
}

}  // namespace
}  // namespace penstock::store::redis

int main(int argc, char** argv) {
  using namespace penstock::store::redis;  // NOLINT(google-build-using-namespace): a program of one file
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 5;
  Bench bench{seconds > 0 ? seconds : 5};
  LimitOptions with_peak = limit(Algorithm::token_bucket);
  with_peak.peak = {.amount = 50, .window_seconds = 1, .burst = 50};
  bench.run({.name = "fixed_window", .limits = {limit(Algorithm::fixed_window, true)}});
  bench.run({.name = "gcra", .limits = {limit(Algorithm::gcra)}});
  bench.run({.name = "token_bucket with a peak", .limits = {with_peak}});
  bench.run({.name = "sliding_window", .limits = {limit(Algorithm::sliding_window)}});
  bench.run({.name = "sliding_log", .limits = {limit(Algorithm::sliding_log)}});
  bench.run({.name = "list of gcra and a window",
             .limits = {limit(Algorithm::gcra), limit(Algorithm::sliding_window)},
             .mode = penstock::store::GroupMode::all_or_nothing});
  return 0;
}
