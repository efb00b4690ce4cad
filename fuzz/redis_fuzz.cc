// Any bytes as what a Redis says, to a store of each topology: every group is answered once, whatever comes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/check.h"
#include "penstock/store/redis/redis_store.h"
#include "penstock/store/testing/ledger.h"

namespace {

using penstock::Instant;
using penstock::store::Charge;
using penstock::store::redis::Endpoint;
using penstock::store::redis::RedisStore;
using penstock::store::redis::Topology;
using penstock::store::testing::GroupOf;
using penstock::store::testing::Ledger;

class OpenWires final : public penstock::store::redis::Wires {
 public:
  void open(std::uint32_t wire, const Endpoint&) override { opening.push_back(wire); }
  void close(std::uint32_t) override {}
  void has_output(std::uint32_t) override {}
  std::vector<std::uint32_t> opening;
};

constexpr Instant kStart = penstock::instant_from_unix_seconds(1'772'600'767);

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const auto window = penstock::algorithm::Limit::original_window(10, 60);
  static const auto bucket =
      penstock::algorithm::Limit::create({.algorithm = penstock::algorithm::Algorithm::gcra, .amount = 10, .burst = 5})
          .value();
  OpenWires wires;
  RedisStore store{{.topology = static_cast<Topology>(data[0] % 4),
                    .endpoints = {{.host = "a"}, {.host = "b"}},
                    .primary_name = "p"},
                   wires};
  Ledger ledger{store};
  Instant now = kStart;
  std::string_view rest{reinterpret_cast<const char*>(data) + 1, size - 1};
  // A piece for the connections in turn, up to a byte that no reply needs.
  for (std::uint32_t turn = 0; !rest.empty() && turn < 64; ++turn) {
    now += std::chrono::milliseconds{1};
    store.tick(now);
    for (const std::uint32_t wire : std::exchange(wires.opening, {})) store.opened(wire, now);
    const std::string_view piece = rest.substr(0, rest.find('\x01'));
    rest.remove_prefix(std::min(piece.size() + 1, rest.size()));
    const Charge hit = {.counter = {.low = turn, .high = 1}, .limit = &window, .cost = 1};
    const Charge drop = {.counter = {.low = turn, .high = 2}, .limit = &bucket, .cost = 1};
    ledger.submit(std::vector{GroupOf{.charges = {hit}}, GroupOf{.charges = {drop}}}, now);
    const std::uint32_t wire = turn % 2;
    store.written(wire, store.output(wire).size());
    store.received(wire, piece, now);
  }
  for (int i = 0; i < 20; ++i) store.tick(now += std::chrono::milliseconds{10});
  PENSTOCK_CHECK(ledger.pending() == 0 && ledger.wrong_answers() == 0);
  PENSTOCK_CHECK(store.pending() == 0);
  return 0;
}
