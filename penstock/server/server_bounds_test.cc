// What a server does with peers that are slow, too many, or curious.

#include <array>
#include <chrono>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/server/server.h"
#include "penstock/server/testing/running_server.h"

namespace penstock::server {
namespace {

using boost::asio::ip::tcp;
using testing::ask;
using ::testing::EndsWith;
using testing::example_rules;
using ::testing::HasSubstr;
using testing::reply_to;
using testing::Running;
using ::testing::StartsWith;

// Short enough for a test, long enough for a slow machine.
ServerSettings impatient() {
  ServerSettings settings;
  settings.patience.request = std::chrono::milliseconds{100};
  settings.patience.idle = std::chrono::milliseconds{200};
  return settings;
}

std::string get(const Address& server, std::string_view path) {
  return reply_to(server, fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path));
}

std::string figure(const Address& debug, std::string_view name) {
  const std::string stats = get(debug, "/stats");
  const std::size_t at = stats.find(fmt::format("\n{} ", name));
  if (at == std::string::npos) return "none";
  const std::size_t begin = at + name.size() + 2;
  return stats.substr(begin, stats.find('\n', begin) - begin);
}

TEST(ServerBounds, HalfARequestIsAnswered408AndClosed) {
  Running server{impatient()};
  EXPECT_THAT(reply_to(server.http, "POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf"),
              HasSubstr("408 Request Timeout"));
  EXPECT_EQ(figure(server.debug, "penstock_http1_late_requests"), "1");
}

TEST(ServerBounds, AnIdleHttp1ConnectionIsClosedWithoutAWord) {
  Running server{impatient()};
  EXPECT_EQ(reply_to(server.http, ""), "");
  EXPECT_EQ(figure(server.debug, "penstock_http1_ended_idle"), "1");
}

TEST(ServerBounds, AConnectionThatIsNoHttp2IsCut) {
  Running server{impatient()};
  EXPECT_FALSE(reply_to(server.grpc, "PRI * HTTP").empty()) << "SETTINGS, then GOAWAY";
  EXPECT_EQ(figure(server.debug, "penstock_http2_cut_for_preface"), "1");
}

TEST(ServerBounds, AConnectionThatDoesNotReadIsCut) {
  ServerSettings settings;
  settings.patience.reply = std::chrono::milliseconds{200};
  Running server{settings};
  boost::asio::io_context io;
  tcp::socket deaf{io};
  deaf.connect({boost::asio::ip::make_address(server.http.host), server.http.port});
  std::string requests;
  for (int i = 0; i < 2000; ++i) requests += "GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n";
  boost::system::error_code error;
  while (!error) boost::asio::write(deaf, boost::asio::buffer(requests), error);  // until the server has closed it
  EXPECT_EQ(figure(server.debug, "penstock_http1_cut_for_slow_reading"), "1");
}

TEST(ServerBounds, OneAddressMayBeGivenSoManyConnections) {
  ServerSettings settings;
  settings.max_connections_per_address = 1;
  Running server{settings};
  boost::asio::io_context io;
  std::array<char, 9> frame{};
  boost::system::error_code error;
  const tcp::endpoint endpoint{boost::asio::ip::make_address(server.grpc.host), server.grpc.port};
  {
    tcp::socket first{io}, second{io};
    first.connect(endpoint);
    boost::asio::read(first, boost::asio::buffer(frame));
    second.connect(endpoint);
    boost::asio::read(second, boost::asio::buffer(frame), error);
    EXPECT_TRUE(error) << "closed without a byte";
  }
  EXPECT_EQ(figure(server.debug, "penstock_connections_refused_for_address"), "1");
  do {  // the server learns in its own time that the first has gone
    error.clear();
    tcp::socket third{io};
    third.connect(endpoint);
    boost::asio::read(third, boost::asio::buffer(frame), error);
  } while (error);
}

// Everybody else is served all the time: a little is granted always, and who holds most makes room for the rest.
TEST(ServerBounds, WhoHoldsMostMakesRoomForOthers) {
  ServerSettings settings;
  settings.threads = 1;
  settings.max_held_bytes = std::size_t{1024} * 1024;
  Running server{settings};
  boost::asio::io_context io;
  const std::string half =
      "POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" + std::string(900'000, ' ');
  std::vector<tcp::socket> greedy;
  for (int i = 0; i < 3; ++i) {
    greedy.emplace_back(io);
    greedy.back().connect({boost::asio::ip::make_address(server.http.host), server.http.port});
    boost::system::error_code closed;
    boost::asio::write(greedy.back(), boost::asio::buffer(half), closed);
    EXPECT_THAT(get(server.http, "/healthcheck"), StartsWith("HTTP/1.1 200"));
    ask(server.grpc, "modest");
  }
  while (figure(server.debug, "penstock_connections_cut_for_memory") == "0") {
  }
  EXPECT_THAT(get(server.http, "/healthcheck"), StartsWith("HTTP/1.1 200"));
}

TEST(DebugPort, ShowsWhatIsLoadedAndWhatWasCounted) {
  Running server;
  ask(server.grpc, "a-secret-key");
  ask(server.grpc, "another-one");
  EXPECT_THAT(
      get(server.debug, "/rlconfig"),
      EndsWith("\r\n\r\nd.user: unit=YEAR requests_per_unit=1000, shadow_mode: false, quota_mode: false, limit: 1000 "
               "per year, gcra, burst 1000\n"));
  EXPECT_EQ(figure(server.debug, "penstock_limiter_checks"), "2");
  EXPECT_EQ(figure(server.debug, "penstock_rule_total_hits{rule=\"d.user\"}"), "2");
  EXPECT_EQ(figure(server.debug, "penstock_table_counters"), "2");
  EXPECT_EQ(figure(server.debug, "penstock_grpc_connections_opened"), "2");
  EXPECT_EQ(figure(server.debug, "penstock_event_loops"), "2");
  EXPECT_THAT(get(server.debug, "/stats"), Not(HasSubstr("secret")));
}

TEST(DebugPort, ShowsNoFigureThatCannotRise) {
  Running server;
  for (const std::string_view name :
       {"penstock_grpc_expired", "penstock_grpc_oversize", "penstock_grpc_streams_refused",
        "penstock_http_waiting_refused", "penstock_debug_accept_failures"}) {
    EXPECT_EQ(figure(server.debug, name), "0") << name;
  }
  for (const std::string_view name : {"penstock_http_expired", "penstock_http_oversize"}) {
    EXPECT_EQ(figure(server.debug, name), "none") << name;
  }
}

TEST(DebugPort, SaysThatItIsHealthyAndListsItsPagesElsewhere) {
  Running server;
  EXPECT_THAT(get(server.debug, "/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK"), EndsWith("\r\n\r\nok")));
  EXPECT_THAT(get(server.debug, "/"), AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("\n/rlconfig: the limits")));
  EXPECT_THAT(get(server.debug, "/debug/pprof/"),
              AllOf(StartsWith("HTTP/1.1 404 Not Found"), HasSubstr("\n/rlconfig: the limits")));
}

TEST(DebugPort, ThatCannotBeOpenedIsDoneWithout) {
  Running server;
  ServerSettings settings;
  settings.grpc = settings.http = {.host = "127.0.0.1", .port = 0};
  settings.debug = server.debug;
  settings.threads = 1;
  const auto second = Server::open(settings, example_rules());
  ASSERT_TRUE(second);
  EXPECT_FALSE((*second)->debug_address());
}

TEST(DebugPort, ClosesConnectionsBeyondTheMost) {
  Running server;
  boost::asio::io_context io;
  std::vector<tcp::socket> idle;
  const tcp::endpoint endpoint{boost::asio::ip::make_address(server.debug.host), server.debug.port};
  for (int i = 0; i < 16; ++i) {
    idle.emplace_back(io);
    idle.back().connect(endpoint);
  }
  boost::system::error_code error;
  tcp::socket more{io};
  more.connect(endpoint);
  std::array<char, 1> byte{};
  boost::asio::read(more, boost::asio::buffer(byte), error);
  EXPECT_TRUE(error);
  idle.clear();
  std::string refused;  // the server learns in its own time that they have gone
  while (refused.empty() || refused == "none") refused = figure(server.debug, "penstock_debug_connections_refused");
  EXPECT_NE(refused, "0");
}

}  // namespace
}  // namespace penstock::server
