#include "penstock/protocol/grpc_endpoint.h"

#include <gtest/gtest.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/base/testing/allocation_count.h"
#include "penstock/protocol/testing/grpc_peers.h"

namespace penstock::protocol {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using testing::Answer;

using testing::GrpcPeers;

constexpr std::string_view kShouldRateLimit = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);  // an hour and a day begin here

constexpr std::string_view kRules = R"(
domain: shop
descriptors:
  - key: user
    rate_limit: {name: per_user, unit: hour, requests_per_unit: 2}
  - key: open
    rate_limit: {unlimited: true}
)";

RateLimitRequest request_of(std::string_view key, std::string_view value) {
  RateLimitRequest request;
  request.set_domain("shop");
  auto& entry = *request.add_descriptors()->add_entries();
  entry.set_key(std::string{key});
  entry.set_value(std::string{value});
  return request;
}

std::string body_of(const RateLimitRequest& request) { return framed(request.SerializeAsString()); }

std::vector<transport::Header> headers_with(std::string_view name, std::string_view value) {
  auto headers = GrpcPeers::grpc_headers();
  headers.push_back({name, value});
  return headers;
}

class GrpcEndpointTest : public ::testing::Test {
 protected:
  GrpcEndpointTest() { limiter_.use_rules(testing::rules_of(kRules)); }

  RateLimitResponse ask(const RateLimitRequest& request, Instant now = kNow) {
    const std::optional<Answer> answer = peers_.call(kShouldRateLimit, body_of(request), now);
    RateLimitResponse response;
    if (!answer || answer->status != "0" || !response.ParseFromString(answer->body)) {
      ADD_FAILURE() << (answer ? answer->status + " " + answer->message : "no answer");
    }
    return response;
  }

  std::unique_ptr<store::Store> store_ = testing::small_store();
  testing::RecordingOutbox outbox_;
  limiter::Limiter limiter_{*store_, {.counter_key = {1, 2}}};
  GrpcEndpoint endpoint_{limiter_, outbox_};
  GrpcPeers peers_{endpoint_};
};

TEST_F(GrpcEndpointTest, LimitsByTheRules) {
  const RateLimitRequest request = request_of("user", "u1");
  EXPECT_EQ(ask(request).statuses(0).limit_remaining(), 1U);
  EXPECT_EQ(ask(request).overall_code(), RateLimitResponse::OK);
  const RateLimitResponse over = ask(request, kNow + std::chrono::seconds{10});
  EXPECT_EQ(over.overall_code(), RateLimitResponse::OVER_LIMIT);
  ASSERT_EQ(over.statuses_size(), 1);
  EXPECT_EQ(over.statuses(0).current_limit().name(), "per_user");
  EXPECT_EQ(over.statuses(0).current_limit().requests_per_unit(), 2U);
  EXPECT_EQ(over.statuses(0).current_limit().unit(), RateLimitResponse::RateLimit::HOUR);
  EXPECT_EQ(over.statuses(0).duration_until_reset().seconds(), 3590);
}

TEST_F(GrpcEndpointTest, AnswersInTheFormOfGrpc) {
  const auto answer = peers_.call(kShouldRateLimit, body_of(request_of("user", "u1")), kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->http_status, 200);
  EXPECT_EQ(answer->header("content-type"), "application/grpc");
  EXPECT_EQ(answer->status, "0");
  EXPECT_EQ(answer->message, "");
  EXPECT_TRUE(outbox_.http2.empty()) << "what is answered in place is in the output already";
}

TEST_F(GrpcEndpointTest, AnswersEachDescriptorInOrder) {
  RateLimitRequest request = request_of("none", "x");
  for (const char* key : {"user", "open"}) request.add_descriptors()->add_entries()->set_key(key);
  const RateLimitResponse response = ask(request);
  ASSERT_EQ(response.statuses_size(), 3);
  EXPECT_EQ(response.statuses(0).ShortDebugString(), "code: OK");
  EXPECT_TRUE(response.statuses(1).has_current_limit());
  EXPECT_EQ(response.statuses(2).ShortDebugString(), "code: OK limit_remaining: 4294967295");
}

TEST_F(GrpcEndpointTest, TellsTheLimitOfAnOverride) {
  RateLimitRequest request = request_of("user", "u1");
  request.mutable_descriptors(0)->mutable_limit()->set_requests_per_unit(7);
  request.mutable_descriptors(0)->mutable_limit()->set_unit(envoy::type::v3::DAY);
  const auto status = ask(request).statuses(0);
  EXPECT_EQ(status.current_limit().ShortDebugString(), "requests_per_unit: 7 unit: DAY");
  EXPECT_EQ(status.limit_remaining(), 6U);
}

TEST_F(GrpcEndpointTest, DecidesEverythingOfOneReadTogether) {
  const std::string body = body_of(request_of("user", "u1"));
  for (int i = 0; i < 3; ++i) peers_.client().post("limits", kShouldRateLimit, GrpcPeers::grpc_headers(), body);
  peers_.exchange(kNow);
  std::vector<int> codes;
  while (const auto answer = peers_.answer()) {
    RateLimitResponse response;
    ASSERT_TRUE(response.ParseFromString(answer->body));
    codes.push_back(response.overall_code());
  }
  EXPECT_EQ(codes, (std::vector<int>{1, 1, 2}));
  EXPECT_EQ(endpoint_.waiting(), 0U);
}

TEST_F(GrpcEndpointTest, GivesEachFaultItsStatus) {
  const std::string good = body_of(request_of("user", "u1"));
  RateLimitRequest unknown_unit = request_of("user", "u1");
  unknown_unit.mutable_descriptors(0)->mutable_limit()->set_requests_per_unit(1);
  const auto plain = GrpcPeers::grpc_headers();
  const struct {
    const char* what;
    std::string_view path;
    std::vector<transport::Header> headers;
    std::string body;
    std::string status;
    std::string_view message;
  } cases[] = {
      {"unknown service", "/no.such.Service/Call", plain, good, "12", "unknown service no.such.Service"},
      {"unknown method", "/envoy.service.ratelimit.v3.RateLimitService/Other", plain, good, "12",
       "service envoy.service.ratelimit.v3.RateLimitService has no method Other"},
      {"no method", "/", plain, good, "12", "/ is no method"},
      {"trailing slash", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit/", plain, good, "12", "unknown"},
      {"no body", kShouldRateLimit, plain, "", "13", "ends after 0 bytes"},
      {"truncated", kShouldRateLimit, plain, good.substr(0, good.size() - 1), "13", "after the prefix of a message"},
      {"trailing bytes", kShouldRateLimit, plain, good + "x", "13", "after the prefix of a message"},
      {"garbage", kShouldRateLimit, plain, framed("\x0a\x05"), "13", "the bytes are no RateLimitRequest"},
      {"invalid UTF-8", kShouldRateLimit, plain, framed("\x0a\x01\xff"), "13", "domain is not valid UTF-8"},
      {"compressed", kShouldRateLimit, headers_with("grpc-encoding", "gzip"), "\1" + good.substr(1), "12", "gzip"},
      {"falsely marked as compressed", kShouldRateLimit, plain, "\1" + good.substr(1), "13", "grpc-encoding"},
      {"too large", kShouldRateLimit, plain, framed(std::string(kMaxMessageBytes + 1, ' ')), "8", "4194304"},
      {"says it is too large", kShouldRateLimit, plain, std::string{"\0\xff\xff\xff\xff", 5}, "8", "4294967295"},
      {"bad timeout", kShouldRateLimit, headers_with("grpc-timeout", "20"), good, "13", "grpc-timeout is 20;"},
      {"no domain", kShouldRateLimit, plain, framed(""), "2", "rate limit domain must not be empty"},
      {"no descriptors", kShouldRateLimit, plain, framed("\x0a\x01\x61"), "2", "descriptor list must not be empty"},
      {"unknown unit", kShouldRateLimit, plain, body_of(unknown_unit), "3", ""},
      {"health of nobody", "/grpc.health.v1.Health/Check", plain, framed("\x0a\x01\x61"), "5", "unknown service"},
      {"garbage health", "/grpc.health.v1.Health/Check", plain, framed("\x0a\x05"), "13", "HealthCheckRequest"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    const auto answer = peers_.call(each.path, each.body, kNow, each.headers);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->http_status, 200);
    EXPECT_EQ(answer->header("content-type"), "application/grpc");
    EXPECT_EQ(answer->status, each.status) << answer->message;
    EXPECT_TRUE(answer->message.contains(each.message)) << answer->message;
    EXPECT_FALSE(answer->has_body);
  }
  EXPECT_EQ(ask(request_of("user", "u1")).statuses(0).limit_remaining(), 1U) << "none of these was charged";
}

TEST_F(GrpcEndpointTest, NamesTheCodingsItTakesWhenOneIsUnknown) {
  const auto answer =
      peers_.call(kShouldRateLimit, std::string{"\1\0\0\0\0", 5}, kNow, headers_with("grpc-encoding", "deflate"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->header("grpc-accept-encoding"), "identity");
}

TEST_F(GrpcEndpointTest, RefusesOtherContentTypesAsHttp) {
  const std::string body = body_of(request_of("user", "u1"));
  const std::vector<transport::Header> json{{"content-type", "application/json"}};
  for (const auto& headers : {json, std::vector<transport::Header>{}}) {
    const auto answer = peers_.call(kShouldRateLimit, body, kNow, headers);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->http_status, 415);
    EXPECT_EQ(answer->status, "");
  }
  for (const std::string_view type : {"application/grpc+proto", "application/grpc;v=1"}) {
    const auto answer = peers_.call(kShouldRateLimit, body, kNow, {{"content-type", type}});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, "0") << type;
  }
}

TEST_F(GrpcEndpointTest, RefusesOtherMethodsAsHttp) {
  // Connection preface, empty SETTINGS, and HEADERS of a GET for "/": fields 2, 6, 4 and 1 of the static table.
  const std::string_view bytes{
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
      "\0\0\0\4\0\0\0\0\0"
      "\0\0\6\1\5\0\0\0\1\x82\x86\x84\x41\1a",
      24 + 9 + 15};
  transport::Http2Server server{{}};
  ASSERT_TRUE(server.receive(bytes, kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  endpoint_.serve(server, kNow);
  const std::string_view output = server.output();
  EXPECT_TRUE(output.contains("gRPC requests use POST")) << output;
}

TEST_F(GrpcEndpointTest, ChargesWhatComesTooLateAndSaysSo) {
  const auto call = [this](std::string_view timeout, Nanoseconds on_the_way) {
    const std::int32_t stream =
        peers_.client().post("limits", kShouldRateLimit, headers_with("grpc-timeout", timeout), {}, false);
    peers_.exchange(kNow);
    peers_.client().send_data(stream, body_of(request_of("user", "u1")), true);
    peers_.exchange(kNow + on_the_way);
    return peers_.answer();
  };
  const auto in_time = call("20m", std::chrono::milliseconds{19});
  ASSERT_TRUE(in_time);
  EXPECT_EQ(in_time->status, "0");
  const auto late = call("20m", std::chrono::milliseconds{20});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->status, "4");
  const auto third = call("1S", std::chrono::milliseconds{20});
  ASSERT_TRUE(third);
  RateLimitResponse response;
  ASSERT_TRUE(response.ParseFromString(third->body));
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT) << "the late one was the second of two";
}

TEST_F(GrpcEndpointTest, MakesNobodyLateByAClockThatWasSet) {
  for (const Nanoseconds set_by : {Nanoseconds{std::chrono::hours{1}}, Nanoseconds{-std::chrono::hours{2}}}) {
    peers_.set_clock(Nanoseconds{0});
    const std::int32_t stream =
        peers_.client().post("limits", kShouldRateLimit, headers_with("grpc-timeout", "20m"), {}, false);
    peers_.exchange(kNow);
    peers_.set_clock(set_by);
    peers_.client().send_data(stream, body_of(request_of("user", "u1")), true);
    peers_.exchange(kNow);
    const auto answer = peers_.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, "0") << answer->message;
  }
}

TEST_F(GrpcEndpointTest, IsAnErrorWithoutRules) {
  limiter::Limiter without_rules{*store_, {}};
  GrpcEndpoint bare{without_rules, outbox_};
  GrpcPeers peers{bare};
  const auto answer = peers.call(kShouldRateLimit, body_of(request_of("user", "u1")), kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, "2");
  EXPECT_EQ(answer->message, "no rate limit configuration loaded");
}

TEST_F(GrpcEndpointTest, AllocatesNothingForARequestOnceWarm) {
  RateLimitRequest request = request_of("user", "a value that no short string holds");
  request.add_descriptors()->add_entries()->set_key("open");
  request.add_descriptors()->mutable_hits_addend()->set_value(0);
  request.mutable_descriptors(2)->mutable_limit()->set_requests_per_unit(5);
  request.mutable_descriptors(2)->mutable_limit()->set_unit(envoy::type::v3::HOUR);
  const std::string body = body_of(request);
  std::uint64_t allocated = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 10; ++i) peers_.client().post("limits", kShouldRateLimit, GrpcPeers::grpc_headers(), body);
    const std::string bytes{peers_.client().output()};
    peers_.client().written(bytes.size());
    ASSERT_TRUE(peers_.server().receive(bytes, kNow));
    const std::uint64_t before = allocation_count();
    endpoint_.serve(peers_.server(), kNow);
    allocated = allocation_count() - before;
    peers_.exchange(kNow);
  }
  EXPECT_EQ(allocated, 0U);
}

}  // namespace
}  // namespace penstock::protocol
