#include "penstock/protocol/http_endpoint.h"

#include <algorithm>
#include <cctype>

#include <gtest/gtest.h>

#include "penstock/protocol/testing/grpc_peers.h"
#include "penstock/store/testing/faulty_store.h"

namespace penstock::protocol {
namespace {

using store::testing::Fault;

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);
constexpr std::string_view kRules = R"(
domain: hits
descriptors:
  - key: l1
    rate_limit: {unit: hour, requests_per_unit: 1}
  - key: l8
    rate_limit: {name: eight, unit: hour, requests_per_unit: 8}
)";

std::string http(std::string_view method, std::string_view path, std::string_view body) {
  std::string request{method};
  request += " ";
  request += path;
  request += " HTTP/1.1\r\nhost: limits\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n";
  return request.append(body);
}

std::string ask(std::string_view key) {
  return R"({"domain":"hits","descriptors":[{"entries":[{"key":")" + std::string{key} + R"(","value":"v"}]}]})";
}

class HttpEndpointTest : public ::testing::Test {
 protected:
  HttpEndpointTest() { limiter_.use_rules(testing::rules_of(kRules)); }

  std::string send(std::string_view bytes) {
    EXPECT_TRUE(server_.receive(bytes, kNow));
    endpoint_.serve(server_, kNow);
    return take_output();
  }

  std::string take_output() {
    const std::string output{server_.output()};
    server_.written(output.size());
    return output;
  }

  std::unique_ptr<store::Store> memory_ = testing::small_store();
  store::testing::FaultyStore store_{*memory_, {}, Fault::none};
  testing::RecordingOutbox outbox_;
  limiter::Limiter limiter_{store_, {.counter_key = {1, 2}}};
  HttpEndpoint endpoint_{limiter_, outbox_};
  transport::Http1Server server_{{}};
};

std::string status_of(std::string_view reply) { return std::string{reply.substr(0, 12)}; }
std::string body_of(std::string_view reply) { return std::string{reply.substr(reply.find("\r\n\r\n") + 4)}; }

bool has_header(std::string reply, std::string_view line) {
  std::ranges::transform(reply, reply.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  return reply.contains(line);
}

TEST_F(HttpEndpointTest, AnswersJsonWithTheVerdict) {
  const std::string ok = send(http("POST", "/json", ask("l8")));
  EXPECT_EQ(status_of(ok), "HTTP/1.1 200");
  EXPECT_TRUE(has_header(ok, "content-type: application/json\r\n"));
  EXPECT_FALSE(has_header(ok, "nosniff"));
  EXPECT_EQ(body_of(ok),
            R"({"overallCode":"OK","statuses":[{"code":"OK","currentLimit":{"requestsPerUnit":8,"unit":"HOUR",)"
            R"("name":"eight"},"limitRemaining":7,"durationUntilReset":"3600s"}]})");
}

TEST_F(HttpEndpointTest, Answers429WhenOverLimit) {
  EXPECT_EQ(status_of(send(http("POST", "/json", ask("l1")))), "HTTP/1.1 200");
  const std::string over = send(http("POST", "/json", ask("l1")));
  EXPECT_EQ(status_of(over), "HTTP/1.1 429");
  EXPECT_TRUE(has_header(over, "content-type: application/json\r\n"));
  EXPECT_TRUE(body_of(over).starts_with(R"({"overallCode":"OVER_LIMIT")"));
}

TEST_F(HttpEndpointTest, TakesAnyMethodAndIgnoresAQuery) {
  for (const std::string_view method : {"POST", "PUT", "GET", "DELETE"}) {
    EXPECT_EQ(status_of(send(http(method, "/json?x=1", ask("l8")))), "HTTP/1.1 200") << method;
  }
}

TEST_F(HttpEndpointTest, Answers400ToWhateverIsWrongAndSaysWhy) {
  const struct {
    std::string body;
    std::string_view why;
  } cases[] = {
      {"", "no valid json"},
      {"domain: x", "no valid json"},
      {"[]", "an object is accepted"},
      {"{}", "rate limit domain must not be empty"},
      {R"({"domain":"hits"})", "descriptor list must not be empty"},
      {R"({"domain":"hits","descriptors":[{"entries":[{"key":"l8"}],"limit":{"requestsPerUnit":1,"unit":99}}]})", "99"},
      {R"({"domain":"hits","descriptor":[]})", "unknown field \"descriptor\""},
  };
  for (const auto& each : cases) {
    const std::string reply = send(http("POST", "/json", each.body));
    EXPECT_EQ(status_of(reply), "HTTP/1.1 400") << each.body;
    EXPECT_TRUE(has_header(reply, "content-type: text/plain; charset=utf-8\r\n"));
    EXPECT_TRUE(has_header(reply, "x-content-type-options: nosniff\r\n"));
    EXPECT_TRUE(has_header(reply, each.why)) << reply;
    EXPECT_EQ(body_of(reply), "Bad Request\n");
  }
}

TEST_F(HttpEndpointTest, KeepsOddTextsOutOfHeaders) {
  const std::string reply = send(http("POST", "/json", R"({"a\r\nset-cookie: x":1})"));
  EXPECT_EQ(status_of(reply), "HTTP/1.1 400");
  EXPECT_FALSE(has_header(reply, "\nset-cookie")) << reply;
}

// Answers nothing, and remembers until when it could have.
class DeadlineStore final : public store::Store {
 public:
  void submit(const store::Batch& batch, Instant, store::LateDecisions&) override {
    for (const store::Group& group : batch.groups) deadlines.push_back(group.deadline);
    for (algorithm::Decision& decision : batch.decisions) decision.outcome = algorithm::Outcome::unanswered;
  }
  std::vector<Instant> deadlines;
};

TEST_F(HttpEndpointTest, GivesTheStoreASecondAndAnswers400WhenItHasNoAnswer) {
  DeadlineStore store;
  limiter::Limiter limiter{store, {.counter_key = {1, 2}}};
  limiter.use_rules(testing::rules_of(kRules));
  HttpEndpoint endpoint{limiter, outbox_};
  ASSERT_TRUE(server_.receive(http("POST", "/json", ask("l8")), kNow));
  endpoint.serve(server_, kNow);
  EXPECT_EQ(status_of(take_output()), "HTTP/1.1 400");
  ASSERT_EQ(store.deadlines.size(), 1U);
  EXPECT_EQ(store.deadlines[0] - kNow, std::chrono::seconds{1});
}

// What callers send may stand in a body as JSON, but never in a header, and never as a line of its own.
TEST_F(HttpEndpointTest, LetsNoTextOfACallerIntoTheHead) {
  for (const std::string_view text :
       {R"(\r\nset-cookie: a=b)", R"(\n\nHTTP/1.1 200 OK)", R"(\u0000\r)", R"(\u000d\u000aX: y)"}) {
    const std::string odd{text};
    for (const std::string& body :
         {R"({"domain":")" + odd + R"(","descriptors":[{"entries":[{"key":"l8","value":"v"}]}]})",
          R"({"domain":"hits","descriptors":[{"entries":[{"key":"l8","value":")" + odd + R"("}]}]})",
          R"({"domain":"hits","descriptors":[{"entries":[{"key":")" + odd + R"("}]}]})",
          R"({"domain":"hits",")" + odd + R"(":1})",
          R"({"domain":"hits","descriptors":[{"entries":[{"key":"l8"}],"limit":{"unit":")" + odd + R"("}}]})"}) {
      const std::string reply = send(http("POST", "/json", body));
      const std::string head = reply.substr(0, reply.find("\r\n\r\n") + 2);
      EXPECT_FALSE(reply.contains("\nHTTP/1.1")) << reply;
      EXPECT_FALSE(has_header(head, "\nset-cookie")) << reply;
      EXPECT_FALSE(has_header(head, "\nx: y")) << reply;
      EXPECT_EQ(std::ranges::count(head, '\r'), std::ranges::count(head, '\n')) << reply;
    }
  }
  const std::string redirect = send(http("GET", "//a%0d%0aset-cookie:x", ""));
  EXPECT_TRUE(has_header(redirect, "location: /a%0d%0aset-cookie:x\r\n")) << redirect;
}

TEST_F(HttpEndpointTest, CountsWhatItRefuses) {
  send(http("GET", "/nothing", ""));
  send(http("POST", "/json", "{"));
  send(http("POST", "/json", R"({"domain":")" + std::string(CheckBatch::kMaxTextBytes + 1, 'x') + R"("})"));
  const EndpointMetrics& metrics = endpoint_.metrics();
  EXPECT_EQ(metrics.requests.value(), 3U);
  EXPECT_EQ(metrics.unknown_paths.value(), 1U);
  EXPECT_EQ(metrics.malformed.value(), 1U);
  EXPECT_EQ(metrics.beyond_maxima.value(), 1U);
}

TEST_F(HttpEndpointTest, SaysWhetherItServes) {
  const std::string failing = send(http("GET", "/healthcheck", ""));
  EXPECT_EQ(status_of(failing), "HTTP/1.1 500");
  EXPECT_EQ(body_of(failing), "");
  endpoint_.set_serving(true);
  const std::string fine = send(http("GET", "/healthcheck", ""));
  EXPECT_EQ(status_of(fine), "HTTP/1.1 200");
  EXPECT_EQ(body_of(fine), "OK");
}

TEST_F(HttpEndpointTest, Answers404ElseWhere) {
  for (const std::string_view path : {"/", "/json/", "/healthcheck/", "/JSON", "/metrics"}) {
    const std::string reply = send(http("GET", path, ""));
    EXPECT_EQ(status_of(reply), "HTTP/1.1 404") << path;
    EXPECT_TRUE(has_header(reply, "x-content-type-options: nosniff\r\n"));
  }
}

TEST_F(HttpEndpointTest, TakesTheWholeAddressAsATarget) {
  for (const std::string_view target : {"http://x/json", "http://x:8080/json?a=b", "https://x/json"}) {
    EXPECT_EQ(status_of(send(http("POST", target, ask("l8")))), "HTTP/1.1 200") << target;
  }
  EXPECT_EQ(status_of(send(http("GET", "http://x", ""))), "HTTP/1.1 404");
}

TEST_F(HttpEndpointTest, RedirectsDoubledSlashesAndKeepsTheQuery) {
  for (const auto& [path, location] : std::vector<std::pair<std::string_view, std::string>>{
           {"//json", "/json"}, {"/json//", "/json/"}, {"///", "/"}, {"//healthcheck?a=//", "/healthcheck?a=//"}}) {
    const std::string reply = send(http("GET", path, ""));
    EXPECT_EQ(status_of(reply), "HTTP/1.1 301") << path;
    EXPECT_TRUE(has_header(reply, "location: " + location + "\r\n")) << reply;
  }
}

// Browsers read "/\\evil.example" as another host's address.
TEST_F(HttpEndpointTest, RedirectsNobodyElsewhere) {
  for (const std::string_view path : {"//\\evil.example/", "/\\//evil.example", "//caf\xc3\xa9"}) {
    EXPECT_EQ(status_of(send(http("GET", path, ""))), "HTTP/1.1 404") << path;
  }
}

TEST_F(HttpEndpointTest, AnswersPipelinedRequestsInOrderAndAsOneBatch) {
  const std::string replies =
      send(http("POST", "/json", ask("l1")) + http("GET", "/nothing", "") + http("POST", "/json", ask("l1")));
  const std::size_t first = replies.find("HTTP/1.1 200");
  const std::size_t second = replies.find("HTTP/1.1 404");
  const std::size_t third = replies.find("HTTP/1.1 429");
  ASSERT_NE(third, std::string::npos) << replies;
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

class HttpLateTest : public HttpEndpointTest {
 protected:
  HttpLateTest() { late_limiter_.use_rules(testing::rules_of(kRules)); }

  void send_late(std::string_view bytes) {
    EXPECT_TRUE(server_.receive(bytes, kNow));
    late_.serve(server_, kNow);
  }

  store::testing::FaultyStore delaying_{*memory_, {}, Fault::delay};
  limiter::Limiter late_limiter_{delaying_, {.counter_key = {1, 2}}};
  HttpEndpoint late_{late_limiter_, outbox_};
};

TEST_F(HttpLateTest, LateRepliesKeepTheirOrder) {
  send_late(http("POST", "/json", ask("l8")) + http("POST", "/json", ask("l1")) + http("GET", "/nothing", ""));
  EXPECT_EQ(take_output(), "");
  EXPECT_EQ(late_.waiting(), 2U);
  delaying_.answer(1);
  EXPECT_EQ(take_output(), "") << "the first is still being decided";
  delaying_.answer(0);
  EXPECT_EQ(outbox_.http1.back(), &server_);
  const std::string replies = take_output();
  const std::size_t first = replies.find("\"requestsPerUnit\":8");
  const std::size_t second = replies.find("\"requestsPerUnit\":1,");
  const std::size_t third = replies.find("HTTP/1.1 404");
  ASSERT_NE(third, std::string::npos) << replies;
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST_F(HttpLateTest, AConnectionThatIsGoneIsNotTouchedAndTheChargeStays) {
  {
    transport::Http1Server gone{{}};
    ASSERT_TRUE(gone.receive(http("POST", "/json", ask("l1")), kNow));
    late_.serve(gone, kNow);
    late_.forget(gone);
  }
  delaying_.answer_all();
  EXPECT_TRUE(outbox_.http1.empty());
  EXPECT_EQ(late_.waiting(), 0U);
  EXPECT_EQ(status_of(send(http("POST", "/json", ask("l1")))), "HTTP/1.1 429");
}

}  // namespace
}  // namespace penstock::protocol
