#include "penstock/server/testing/running_server.h"

#include <array>
#include <optional>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "penstock/server/unary_call.h"

namespace penstock::server::testing {

using boost::asio::ip::tcp;
using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

std::shared_ptr<const rules::RuleSet> example_rules() {
  const std::array sources = {rules::Source{.name = "rules.yaml", .text = R"(
domain: d
descriptors:
  - key: user
    rate_limit: {unit: year, requests_per_unit: 1000, algorithm: gcra}
)"}};
  return rules::load(sources, {})->rules;
}

Running::Running(ServerSettings settings) {
  settings.grpc = settings.http = {.host = "127.0.0.1", .port = 0};
  settings.debug = settings.grpc;
  settings.threads = 2;
  settings.table_keys = 10'000;
  settings.drain = std::chrono::milliseconds{0};
  auto opened = Server::open(settings, example_rules());
  EXPECT_TRUE(opened) << to_string(opened.error());
  server_ = std::move(*opened);
  grpc = server_->grpc_address();
  http = server_->http_address();
  debug = server_->debug_address().value();
  thread_ = std::jthread{[this] { ended_in_time_ = server_->run(); }};
}

bool Running::stop() {
  if (!thread_.joinable()) return ended_in_time_;
  server_->stop();
  thread_.join();
  return ended_in_time_;
}

RateLimitResponse ask(const Address& server, const std::string& user) {
  RateLimitRequest request;
  request.set_domain("d");
  auto* entry = request.add_descriptors()->add_entries();
  entry->set_key("user");
  entry->set_value(user);
  const auto reply = unary_call(server, kShouldRateLimit, request.SerializeAsString(), kPatience);
  EXPECT_TRUE(reply) << to_string(reply.error());
  RateLimitResponse response;
  EXPECT_TRUE(reply && response.ParseFromString(*reply));
  return response;
}

std::string reply_to(const Address& server, std::string_view request) {
  boost::asio::io_context io;
  tcp::socket socket{io};
  socket.connect({boost::asio::ip::make_address(server.host), server.port});
  boost::asio::write(socket, boost::asio::buffer(request.data(), request.size()));
  std::string reply;
  boost::system::error_code error;
  boost::asio::read(socket, boost::asio::dynamic_buffer(reply), error);
  return reply;
}

}  // namespace penstock::server::testing
