#include "bench/captured_traffic.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "penstock/rules/rule_set.h"
#include "penstock/store/memory/table.h"

namespace penstock::bench {
namespace {

constexpr std::uint64_t kTableKeys = 100'000;
constexpr Instant kStart = kStateEpoch + std::chrono::hours{24 * 365};
constexpr std::chrono::microseconds kBetweenReads{200};

[[noreturn]] void give_up(std::string_view what) {
  fmt::print(stderr, "captured traffic: {}\n", what);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): the tools that use this have one thread
}

std::unique_ptr<store::Table> make_table() {
  auto table = store::Table::create({.capacity_keys = kTableKeys});
  if (!table) give_up(to_string(table.error()));
  return std::move(*table);
}

}  // namespace

Capture read_capture(const std::filesystem::path& file) {
  std::ifstream bytes{file, std::ios::binary};
  std::ifstream sizes{file.string() + ".chunks"};
  if (!bytes || !sizes) give_up(fmt::format("{}: the recording or its .chunks cannot be read", file.string()));
  const std::string all{std::istreambuf_iterator<char>{bytes}, {}};
  Capture capture;
  std::size_t at = 0;
  for (std::size_t size = 0; sizes >> size; at += size) capture.chunks.push_back(all.substr(at, size));
  if (at != all.size()) give_up(fmt::format("{}: {} bytes, but pieces of {}", file.string(), all.size(), at));
  return capture;
}

CapturedTraffic::CapturedTraffic(const std::string& rules)
    : store_{make_table()},
      limiter_{store_, {.counter_key = {.k0 = 0x0706050403020100, .k1 = 0x0f0e0d0c0b0a0908}}},
      endpoint_{limiter_, *this},
      now_{kStart} {
  options_.streaming_paths = protocol::GrpcEndpoint::streaming_paths();
  const std::array<rules::Source, 1> sources = {{{.name = "rules", .text = rules}}};
  auto loaded = rules::load(sources, {});
  if (!loaded) give_up(to_string(loaded.error().front()));
  limiter_.use_rules(loaded->rules);
  endpoint_.set_serving(true);
}

CapturedTraffic::~CapturedTraffic() {
  if (connection_) endpoint_.forget(*connection_);
}

void CapturedTraffic::connect() {
  if (connection_) endpoint_.forget(*connection_);
  connection_ = std::make_unique<transport::Http2Server>(options_);
}

void CapturedTraffic::receive(std::string_view bytes) {
  now_ += kBetweenReads;
  if (!connection_->receive(bytes, now_)) give_up("the transport calls the recording a breach of the protocol");
  endpoint_.serve(*connection_, now_);
  for (std::string_view output = connection_->output(); !output.empty(); output = connection_->output()) {
    output_bytes_ += output.size();
    connection_->written(output.size());
  }
}

std::uint64_t CapturedTraffic::answered() const noexcept { return limiter_.statistics().checks.value(); }
std::uint64_t CapturedTraffic::failed() const noexcept { return limiter_.statistics().failed_checks.value(); }
std::uint64_t CapturedTraffic::refused() const noexcept { return limiter_.statistics().over_limit_checks.value(); }

void CapturedTraffic::flush(transport::Http2Server&) {}
void CapturedTraffic::flush(transport::Http1Server&) {}

}  // namespace penstock::bench
