#include "penstock/protocol/debug_endpoint.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/protocol/debug_pages.h"
#include "penstock/protocol/testing/grpc_peers.h"

namespace penstock::protocol {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

class DebugEndpointTest : public ::testing::Test {
 protected:
  std::string get(std::string_view target, std::string_view host = "localhost:6070") {
    transport::Http1Server connection{{}};
    EXPECT_TRUE(connection.receive(fmt::format("GET {} HTTP/1.1\r\nhost: {}\r\n\r\n", target, host), kNow));
    return serve(connection);
  }

  std::string serve(transport::Http1Server& connection) {
    endpoint_.serve(connection, kNow);
    return std::string{connection.output()};
  }

  int asked_ = 0;
  DebugEndpoint endpoint_{{{.path = "/stats",
                            .help = "counters",
                            .render = [this] { return DebugEndpoint::Reply{.body = std::to_string(++asked_)}; }},
                           {.path = "/healthz", .help = "200 while it serves", .render = [] {
                              return DebugEndpoint::Reply{.status = 503, .body = "draining\n"};
                            }}}};
};

TEST_F(DebugEndpointTest, ListsItsPagesWhereverElseOneAsks) {
  const struct {
    std::string_view target, status;
  } cases[] = {{"/", "200 OK"},
               {"/?x=1", "200 OK"},
               {"/debug", "404 Not Found"},
               {"/stats/", "404 Not Found"},
               {"//stats", "404 Not Found"}};
  for (const auto& each : cases) {
    const std::string reply = get(each.target);
    EXPECT_THAT(reply, StartsWith(fmt::format("HTTP/1.1 {}\r\n", each.status))) << each.target;
    EXPECT_THAT(reply, EndsWith("\r\n\r\n/healthz: 200 while it serves\n/stats: counters\n")) << each.target;
  }
  EXPECT_EQ(asked_, 0);
}

TEST_F(DebugEndpointTest, AnswersWhoAsksByAnAddressOrAsLocalhost) {
  for (const std::string_view host : {"localhost", "LocalHost:6070", "localhost:", "127.0.0.1", "127.0.0.1:6070",
                                      "192.0.2.7:16070", "[::1]", "[::1]:6070", "[fe80::1]:1", ""}) {
    EXPECT_THAT(get("/stats", host), StartsWith("HTTP/1.1 200 OK\r\n")) << host;
  }
  transport::Http1Server old{{}};
  EXPECT_TRUE(old.receive("GET /stats HTTP/1.0\r\n\r\n", kNow));
  EXPECT_THAT(serve(old), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(DebugEndpointTest, RefusesWhoAsksByANameSinceThatMayBeAWebPage) {
  for (const std::string_view host :
       {"rebind.example", "rebind.example:6070", "localhost.example", "localhostt", "local", "127.0.0.1.example",
        "127.0.0.1:6070:1", "127.0.0.1:x", "127.0.0.1:65536", "2130706433", "::1", "[::1", "[localhost]", "[127.0.0.1]",
        "[::1]x", "[::1]x:1", "localhost, rebind.example", "user@localhost"}) {
    for (const std::string_view target : {"/", "/stats", "/none"}) {
      const std::string reply = get(target, host);
      EXPECT_THAT(reply, StartsWith("HTTP/1.1 403 Forbidden\r\n")) << host;
      EXPECT_THAT(reply, HasSubstr("\r\n\r\nrefused: the Host of the request is neither localhost nor an IP address"));
      EXPECT_THAT(reply, Not(HasSubstr("rebind")));
    }
  }
  EXPECT_EQ(asked_, 0);
}

TEST_F(DebugEndpointTest, RendersAPageWhenItIsAskedFor) {
  EXPECT_THAT(get("/stats"), EndsWith("\r\n\r\n1"));
  const std::string reply = get("/stats?all");
  EXPECT_THAT(reply, EndsWith("\r\n\r\n2"));
  EXPECT_THAT(reply, HasSubstr("content-type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(reply, HasSubstr("x-content-type-options: nosniff\r\n"));
  EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 503 "));
}

TEST(DebugPages, ListLimitsAsTheOriginalDoesAndSayWhatItDoesNotKnow) {
  const auto rules = testing::rules_of(R"(
domain: d
descriptors:
  - key: user
    rate_limit: {unit: minute, requests_per_unit: 60}
    descriptors:
      - key: route
        value: a
        shadow_mode: true
        rate_limit: {unit: day, requests_per_unit: 1}
  - key: admin
    rate_limit: {unlimited: true}
  - key: "odd\nkey"
    quota_mode: true
    rate_limit: {unit: week, requests_per_unit: 5}
  - key: two
    rate_limits:
      - {unit: second, requests_per_unit: 10, algorithm: gcra}
      - {unit: year, requests_per_unit: 4294967295}
)");
  EXPECT_EQ(list_limits(*rules),
            "d.admin: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: false\n"
            "d.odd\\x0akey: unit=WEEK requests_per_unit=5, shadow_mode: false, quota_mode: true\n"
            "d.two: unit=SECOND requests_per_unit=10, shadow_mode: false, quota_mode: false, limit: 10 per "
            "second, gcra, burst 10\n"
            "d.two: unit=YEAR requests_per_unit=4294967295, shadow_mode: false, quota_mode: false, limit: 4294967295 "
            "per year, fixed_window\n"
            "d.user.route_a: unit=DAY requests_per_unit=1, shadow_mode: true, quota_mode: false\n"
            "d.user: unit=MINUTE requests_per_unit=60, shadow_mode: false, quota_mode: false\n");
  EXPECT_EQ(list_limits(rules::RuleSet{}), "");
}

TEST(DebugPages, ListFiguresByName) {
  EXPECT_EQ(list_figures({{"b", 2}, {"a", 18'446'744'073'709'551'615U}}), "a 18446744073709551615\nb 2\n");
  EXPECT_EQ(labelled("hits", "rule", "d.k_\"v\\\n"), R"(hits{rule="d.k_\"v\\\x0a"})");
}

}  // namespace
}  // namespace penstock::protocol
