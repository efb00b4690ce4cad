// Any bytes as the body of a call to any of our services, in a sound HTTP/2 stream: every call has one end, a status of
// gRPC or of HTTP. Input: the service, how the call is made, the value of grpc-timeout up to a line's end, the body.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/stubs/logging.h>

#include "penstock/base/check.h"
#include "penstock/limiter/limiter.h"
#include "penstock/protocol/grpc_endpoint.h"
#include "penstock/rules/rule_set.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/transport/http2_client.h"

namespace {

using namespace penstock;

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);
constexpr std::array<std::string_view, 7> kPaths{
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "/no.such.Service/Method",
    "/envoy.service.ratelimit.v3.RateLimitService/",
};
constexpr std::string_view kRules = R"(
domain: edge
descriptors:
  - key: api_key
    rate_limit: {unit: minute, requests_per_unit: 3}
  - key: plan
    value: gold-*
    rate_limits: [{unit: second, requests_per_unit: 2, algorithm: gcra}, {unit: day, requests_per_unit: 5}]
)";

class NoOutbox final : public protocol::Outbox {
  void flush(transport::Http2Server&) override {}
  void flush(transport::Http1Server&) override {}
};

std::shared_ptr<const rules::RuleSet> rules_of_the_text() {
  const rules::Source source{.name = "fuzz.yaml", .text = std::string{kRules}};
  auto loaded = rules::load({&source, 1}, {});
  PENSTOCK_CHECK(loaded.has_value());
  return loaded->rules;
}

class Peers {
 public:
  Peers() {
    static const std::shared_ptr<const rules::RuleSet> rules = rules_of_the_text();
    limiter_.use_rules(rules);
    endpoint_.set_serving(true);
  }
  ~Peers() { endpoint_.forget(server_); }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  void exchange() {
    while (!client.output().empty() || !server_.output().empty()) {
      const std::string asked{client.output()};
      client.written(asked.size());
      PENSTOCK_CHECK(server_.receive(asked, kNow));
      endpoint_.serve(server_, kNow);
      const std::string answered{server_.output()};
      server_.written(answered.size());
      PENSTOCK_CHECK(client.receive(answered));
    }
  }
  void end_streams() {
    endpoint_.end_streams();
    exchange();
  }

  transport::Http2Client client;

 private:
  static transport::Http2Options options() {
    transport::Http2Options options;
    options.streaming_paths = protocol::GrpcEndpoint::streaming_paths();
    return options;
  }

  NoOutbox outbox_;
  store::MemoryStore store_{store::Table::create({.capacity_keys = 64}).value()};
  limiter::Limiter limiter_{store_, {.counter_key = {.k0 = 1, .k1 = 2}}};
  protocol::GrpcEndpoint endpoint_{limiter_, outbox_};
  transport::Http2Server server_{options()};
};

std::string framed(std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string out{'\0'};
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(size >> shift & 0xFF);
  return out.append(message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const google::protobuf::LogSilencer quiet;
  if (size < 3) return 0;
  const std::string_view rest{reinterpret_cast<const char*>(data) + 2, size - 2};
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view timeout = rest.substr(0, end);
  const std::string_view message = rest.substr(std::min(end + 1, rest.size()));
  for (const char c : timeout) {
    if (c < ' ' || c > '~') return 0;  // no field value: the transport's business
  }

  const std::uint8_t how = data[1];
  std::vector<transport::Header> headers{
      {.name = "content-type", .value = (how & 1) != 0 ? "application/grpc+proto" : "application/grpc"}};
  if ((how & 2) != 0) headers.push_back({.name = "grpc-timeout", .value = timeout});
  if ((how & 4) != 0) headers.push_back({.name = "grpc-encoding", .value = "gzip"});
  const std::string body = (how & 8) != 0 ? std::string{message} : framed(message);

  Peers peers;
  const std::size_t calls = 1 + (how >> 4 & 3U);
  for (std::size_t i = 0; i < calls; ++i) peers.client.post("edge", kPaths[data[0] % kPaths.size()], headers, body);
  peers.exchange();
  peers.end_streams();
  std::size_t ended = 0;
  while (const auto response = peers.client.next_response()) {
    ++ended;
    bool has_status = response->status != 200 || response->reset;
    for (const auto& [name, value] : response->headers) has_status |= name == "grpc-status";
    PENSTOCK_CHECK(has_status);
  }
  PENSTOCK_CHECK(ended == calls);
  return 0;
}
