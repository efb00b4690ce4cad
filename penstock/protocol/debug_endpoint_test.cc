#include "penstock/protocol/debug_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/protocol/debug_pages.h"
#include "penstock/protocol/testing/grpc_peers.h"

namespace penstock::protocol {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

class DebugEndpointTest : public ::testing::Test {
 protected:
  std::string get(std::string_view target) {
    transport::Http1Server connection{{}};
    EXPECT_TRUE(connection.receive("GET " + std::string{target} + " HTTP/1.1\r\nhost: x\r\n\r\n", kNow));
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
  for (const std::string_view target : {"/", "/debug", "/stats/", "/?x=1", "//stats"}) {
    const std::string reply = get(target);
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n")) << target;
    EXPECT_THAT(reply, EndsWith("\r\n\r\n/healthz: 200 while it serves\n/stats: counters\n")) << target;
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

TEST(DebugPages, ListLimitsAsTheOriginalDoes) {
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
            "d.two: unit=SECOND requests_per_unit=10, shadow_mode: false, quota_mode: false\n"
            "d.two: unit=YEAR requests_per_unit=4294967295, shadow_mode: false, quota_mode: false\n"
            "d.user.route_a: unit=DAY requests_per_unit=1, shadow_mode: true, quota_mode: false\n"
            "d.user: unit=MINUTE requests_per_unit=60, shadow_mode: false, quota_mode: false\n");
  EXPECT_EQ(list_limits(rules::RuleSet{}), "");
}

TEST(DebugPages, ListFiguresByName) {
  EXPECT_EQ(list_figures({{"b", 2}, {"a", 18'446'744'073'709'551'615U}}), "a 18446744073709551615\nb 2\n");
  EXPECT_EQ(name_for_rule("hits", "d.k_\"v\\\n"), R"(hits{rule="d.k_\"v\\\x0a"})");
}

}  // namespace
}  // namespace penstock::protocol
