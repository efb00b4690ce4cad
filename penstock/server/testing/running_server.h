#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/rules/rule_set.h"
#include "penstock/server/address.h"
#include "penstock/server/server.h"

namespace penstock::server::testing {

inline constexpr std::string_view kShouldRateLimit = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
inline constexpr std::chrono::milliseconds kPatience{10'000};

// Domain d: a thousand a year for each user.
[[nodiscard]] std::shared_ptr<const rules::RuleSet> example_rules();

// A server of two loops on free loopback ports for the length of a test.
class Running {
 public:
  explicit Running(ServerSettings settings = {});
  ~Running() { stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Whether all connections ended in time.
  bool stop();

  Address grpc, http, debug;

 private:
  std::unique_ptr<Server> server_;
  bool ended_in_time_ = false;
  std::jthread thread_;
};

// One call over a connection of its own. Fails the test when there is no answer.
envoy::service::ratelimit::v3::RateLimitResponse ask(const Address& server, const std::string& user);

// Writes `request` to a new connection and reads until the server closes it.
[[nodiscard]] std::string reply_to(const Address& server, std::string_view request);

}  // namespace penstock::server::testing
