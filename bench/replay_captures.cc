// Feeds a recorded Envoy connection through transport, protocol, limiter and embedded store, again and again, each time
// as a new connection. Under `valgrind --tool=callgrind --toggle-collect=penstock_measured_replay` only the replays
// after the warm-up are counted; bench/instructions does that.

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/captured_traffic.h"

using penstock::bench::Capture;
using penstock::bench::CapturedTraffic;

namespace {

constexpr int kWarmUpReplays = 2;
constexpr std::uint64_t kLeastReplyBytes = 60;  // three frame headers, and a message with three statuses

void replay(CapturedTraffic& traffic, const Capture& capture) {
  for (const std::string& chunk : capture.chunks) traffic.receive(chunk);
}

}  // namespace

// A name without mangling, which callgrind is told.
extern "C" {
[[gnu::noinline]] void penstock_measured_replay(CapturedTraffic& traffic, const Capture& capture) {
  replay(traffic, capture);
}
}

int main(int argc, char** argv) {
  int replays = 5;
  std::string file = PENSTOCK_SOURCE_DIR "/test/captures/envoy-1.40-rls.c2s";
  std::string rules = PENSTOCK_SOURCE_DIR "/bench/rules/captured.yaml";
  CLI::App app{"Replays a recorded Envoy connection, without sockets."};
  app.add_option("--replays", replays, "How often, after a warm-up")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--capture", file, "The bytes from Envoy; FILE.chunks has the sizes of the reads")
      ->capture_default_str();
  app.add_option("--rules", rules, "A rule file")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const Capture capture = penstock::bench::read_capture(file);
  std::ifstream text{rules};
  CapturedTraffic traffic{{std::istreambuf_iterator<char>{text}, {}}};
  for (int i = 0; i < kWarmUpReplays; ++i) {
    traffic.connect();
    replay(traffic, capture);
  }
  const std::uint64_t before = traffic.answered();
  for (int i = 0; i < replays; ++i) {
    traffic.connect();
    penstock_measured_replay(traffic, capture);
  }
  const std::uint64_t requests = traffic.answered() - before;
  fmt::print("requests {} failed {} refused {} output {}\n", requests, traffic.failed(), traffic.refused(),
             traffic.output_bytes());
  const bool replied = traffic.output_bytes() >= traffic.answered() * kLeastReplyBytes;
  return requests > 0 && replied && traffic.failed() == 0 && traffic.refused() == 0 ? 0 : 1;
}
