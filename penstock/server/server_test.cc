#include "penstock/server/server.h"

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "grpc/health/v1/health.pb.h"
#include "penstock/server/testing/running_server.h"
#include "penstock/server/unary_call.h"

namespace penstock::server {
namespace {

using boost::asio::ip::tcp;
using testing::ask;
using testing::example_rules;
using testing::kPatience;
using testing::kShouldRateLimit;
using testing::reply_to;
using testing::Running;

TEST(Server, AnswersRateLimitRequestsOnManyConnectionsFromOneTable) {
  Running server;
  constexpr int kClients = 8, kCalls = 50;
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < kClients; ++client) {
      clients.emplace_back([&] {
        for (int call = 0; call < kCalls; ++call) ask(server.grpc, "ann");
      });
    }
  }
  EXPECT_EQ(ask(server.grpc, "ann").statuses(0).limit_remaining(), 1000u - kClients * kCalls - 1);
  EXPECT_EQ(ask(server.grpc, "bob").statuses(0).limit_remaining(), 999u);
}

TEST(Server, AnswersBothPortsFromOneTable) {
  Running server;
  ask(server.grpc, "ann");
  const std::string body = R"({"domain":"d","descriptors":[{"entries":[{"key":"user","value":"ann"}]}]})";
  const std::string reply = reply_to(
      server.http, fmt::format("POST /json HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                               body.size(), body));
  EXPECT_NE(reply.find("200 OK"), std::string::npos) << reply;
  EXPECT_NE(reply.find(R"("limitRemaining":998)"), std::string::npos) << reply;
}

TEST(Server, SaysThatItIsHealthy) {
  Running server;
  EXPECT_NE(reply_to(server.http, "GET /healthcheck HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").find("200 OK"),
            std::string::npos);
  const auto reply = unary_call(server.grpc, "/grpc.health.v1.Health/Check", "", kPatience);
  ASSERT_TRUE(reply) << to_string(reply.error());
  grpc::health::v1::HealthCheckResponse health;
  ASSERT_TRUE(health.ParseFromString(*reply));
  EXPECT_EQ(health.status(), grpc::health::v1::HealthCheckResponse::SERVING);
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Server, AnswersMorePipelinedRequestsThanItTakesAtOnce) {
  Running server;
  constexpr std::size_t kRequests = 500;
  std::string requests;
  for (std::size_t i = 1; i < kRequests; ++i) requests += "GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n";
  requests += "GET /healthcheck HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(count(reply_to(server.http, requests), "200 OK"), kRequests);
}

TEST(Server, StillAnswersAPeerThatHasEndedItsSide) {
  Running server;
  boost::asio::io_context io;
  tcp::socket socket{io};
  socket.connect({boost::asio::ip::make_address(server.http.host), server.http.port});
  boost::asio::write(socket, boost::asio::buffer(std::string{"GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n"}));
  socket.shutdown(tcp::socket::shutdown_send);
  std::string reply;
  boost::system::error_code error;
  boost::asio::read(socket, boost::asio::dynamic_buffer(reply), error);
  EXPECT_EQ(count(reply, "200 OK"), 1u) << reply;
  EXPECT_EQ(error, boost::asio::error::eof) << "closed in order, not reset";
}

TEST(Server, TellsAPeerThatBreaksTheProtocolBeforeItCloses) {
  Running server;
  EXPECT_EQ(count(reply_to(server.http, "nonsense\r\n\r\n"), "400 Bad Request"), 1u);
  const std::string goaway = reply_to(server.grpc, "GET / HTTP/1.1\r\nHost: not HTTP/2\r\n\r\n");
  EXPECT_FALSE(goaway.empty());
}

TEST(Server, EndsAtOnceWhenNobodyIsConnected) {
  Running server;
  ask(server.grpc, "ann");
  EXPECT_TRUE(server.stop());
}

TEST(Server, AsksOpenConnectionsToEndAndWaitsForThem) {
  Running server;
  boost::asio::io_context io;
  tcp::socket idle{io};
  idle.connect({boost::asio::ip::make_address(server.http.host), server.http.port});
  ask(server.grpc, "ann");  // the loops have taken the idle connection by now, or will in their next turn
  EXPECT_TRUE(server.stop()) << "an idle HTTP/1.1 connection is closed, not waited for";
}

TEST(Server, ClosesWhatDoesNotEndWithinTheGrace) {
  Running server{{.grace = std::chrono::milliseconds{50}}};
  boost::asio::io_context io;
  tcp::socket silent{io};
  silent.connect({boost::asio::ip::make_address(server.grpc.host), server.grpc.port});
  // A client that opened a call and never ends it.
  const std::string preface{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33};
  const std::string call{"\0\0\5\1\4\0\0\0\1\x83\x86\x84\x41\0", 14};
  boost::asio::write(silent, boost::asio::buffer(preface + call));
  std::array<char, 9> settings{};
  boost::asio::read(silent, boost::asio::buffer(settings));
  ask(server.grpc, "ann");
  EXPECT_FALSE(server.stop());
}

TEST(Server, ClosesConnectionsBeyondTheMost) {
  Running server{{.max_connections = 1}};
  boost::asio::io_context io;
  tcp::socket first{io}, second{io};
  const tcp::endpoint endpoint{boost::asio::ip::make_address(server.grpc.host), server.grpc.port};
  first.connect(endpoint);
  std::array<char, 9> settings{};
  boost::asio::read(first, boost::asio::buffer(settings));
  second.connect(endpoint);
  boost::system::error_code error;
  boost::asio::read(second, boost::asio::buffer(settings), error);
  EXPECT_TRUE(error) << "closed without a byte";
}

TEST(Server, NamesThePortThatItCannotOpen) {
  Running server;
  ServerSettings settings;
  settings.grpc = server.grpc;
  settings.http = {.host = "127.0.0.1", .port = 0};
  settings.debug = std::nullopt;
  settings.threads = 1;
  const auto second = Server::open(settings, example_rules());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(to_string(server.grpc)), std::string::npos) << second.error().message;
}

TEST(UnaryCall, NamesTheServerThatDoesNotAnswer) {
  boost::asio::io_context io;
  tcp::acceptor deaf{io, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  const Address address{.host = "127.0.0.1", .port = deaf.local_endpoint().port()};
  const auto late = unary_call(address, kShouldRateLimit, "", std::chrono::milliseconds{20});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::deadline_exceeded);
  deaf.close();
  const auto refused = unary_call(address, kShouldRateLimit, "", kPatience);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_NE(refused.error().message.find(to_string(address)), std::string::npos);
}

TEST(UnaryCall, SaysWhenThePortIsNoGrpcPort) {
  Running server;
  const auto reply = unary_call(server.http, kShouldRateLimit, "", kPatience);
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("gRPC port"), std::string::npos) << reply.error().message;
}

}  // namespace
}  // namespace penstock::server
