// Load for a rate limit service over gRPC in plain text, one thread, closed loop; every answer is decoded and checked.
// Prints one line of JSON: counts, rate, latency percentiles, and whether one counter counted each request once.

#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/load_connection.h"
#include "bench/load_tally.h"
#include "bench/rls_wire.h"

namespace penstock::bench {
namespace {

constexpr int kSilenceMilliseconds = 5000;

struct LoadOptions {
  LoadTarget target;
  std::size_t connections = 1;
  std::size_t streams = 1;
  std::size_t requests = 100'000;
  std::string domain = "bench";
  std::vector<std::string> entries = {"tenant=acme", "route=/v1/orders", "client=7f3a9c"};
  std::string write_body;
};

std::vector<WireEntry> entries_of(const LoadOptions& options) {
  std::vector<WireEntry> entries;
  for (const std::string& text : options.entries) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) throw CLI::ValidationError{"--entry", "accepted is KEY=VALUE"};
    entries.push_back({.key = text.substr(0, equals), .value = text.substr(equals + 1)});
  }
  return entries;
}

// False when the server fell silent before the last answer.
bool run_load(const LoadOptions& options, LoadTally& tally) {
  const int events = ::epoll_create1(EPOLL_CLOEXEC);
  std::size_t left = options.requests;
  std::vector<std::unique_ptr<LoadConnection>> connections;
  for (std::size_t i = 0; i < options.connections; ++i) {
    auto& connection = connections.emplace_back(std::make_unique<LoadConnection>(options.target, tally, left));
    epoll_event interest{.events = EPOLLIN, .data = {.ptr = connection.get()}};
    ::epoll_ctl(events, EPOLL_CTL_ADD, connection->descriptor(), &interest);
  }
  for (auto& connection : connections) {
    connection->begin(options.streams);
    connection->write_out();
  }
  bool heard = true;
  while (heard && tally.answered() < options.requests) {
    epoll_event ready[64];
    const int count = ::epoll_wait(events, ready, 64, kSilenceMilliseconds);
    heard = count > 0;
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<LoadConnection*>(ready[i].data.ptr);
      connection.read_in();
      connection.write_out();
    }
  }
  ::close(events);
  return heard;
}

int measure(const LoadOptions& options) {
  LoadTally tally{options.requests};
  const auto began = std::chrono::steady_clock::now();
  const bool complete = run_load(options, tally);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (tally.answered() == 0) {
    fmt::print(stderr, "load_client: no answer within {} s\n", kSilenceMilliseconds / 1000);
    return 1;
  }
  fmt::print(
      "{{\"answered\": {}, \"ok\": {}, \"over\": {}, \"errors\": {}, \"least_remaining\": {}, \"most_remaining\": {}, "
      "\"counted_exactly\": {}, \"seconds\": {:.3f}, \"per_second\": {:.0f}, \"p50_us\": {:.1f}, \"p99_us\": {:.1f}, "
      "\"p999_us\": {:.1f}}}\n",
      tally.answered(), tally.ok, tally.over, tally.errors, tally.least, tally.most, tally.counted_exactly(), seconds,
      static_cast<double>(tally.answered()) / seconds, tally.quantile(0.5), tally.quantile(0.99),
      tally.quantile(0.999));
  return complete && tally.errors == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  LoadOptions options;
  CLI::App app{"Asks a rate limit service as fast as it answers, and checks the answers."};
  app.add_option("--host", options.target.host, "IPv4 address")->capture_default_str();
  app.add_option("--port", options.target.port, "Its gRPC port")->capture_default_str();
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--streams", options.streams, "Requests in flight on each")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--requests", options.requests)->check(CLI::Range(1, 1'000'000'000))->capture_default_str();
  app.add_option("--domain", options.domain)->capture_default_str();
  app.add_option("--entry", options.entries, "KEY=VALUE, in order")->capture_default_str();
  app.add_option("--write-body", options.write_body, "Write the request's body to this file and stop; for h2load -d");
  CLI11_PARSE(app, argc, argv);
  options.target.body = encode_request(options.domain, entries_of(options));
  if (options.write_body.empty()) return measure(options);
  std::ofstream{options.write_body, std::ios::binary} << options.target.body;
  return 0;
}

}  // namespace
}  // namespace penstock::bench

int main(int argc, char** argv) { return penstock::bench::run(argc, argv); }
