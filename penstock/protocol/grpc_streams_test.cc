// The streaming methods, over a connection.

#include "penstock/protocol/grpc_streams.h"

#include <gtest/gtest.h>

#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "penstock/protocol/testing/grpc_peers.h"

namespace penstock::protocol {
namespace {

namespace health_wire = grpc::health::v1;
namespace reflection_wire = grpc::reflection::v1;

using testing::GrpcPeers;

constexpr std::string_view kCheck = "/grpc.health.v1.Health/Check";
constexpr std::string_view kList = "/grpc.health.v1.Health/List";
constexpr std::string_view kWatch = "/grpc.health.v1.Health/Watch";
constexpr std::string_view kReflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
constexpr std::string_view kReflectionAlpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

std::string question(const std::string& symbol) {
  reflection_wire::ServerReflectionRequest request;
  request.set_file_containing_symbol(symbol);
  return framed(request.SerializeAsString());
}

std::string watch_for(const std::string& service) {
  health_wire::HealthCheckRequest request;
  request.set_service(service);
  return framed(request.SerializeAsString());
}

class GrpcStreamsTest : public ::testing::Test {
 protected:
  GrpcStreamsTest() { endpoint_.set_serving(true); }

  std::int32_t open(std::string_view path, std::string_view body, bool end) {
    const std::int32_t stream = peers_.client().post("limits", path, GrpcPeers::grpc_headers(), body, end);
    peers_.exchange(kNow);
    return stream;
  }

  void send(std::int32_t stream, std::string_view body, bool end = false) {
    peers_.client().send_data(stream, body, end);
    peers_.exchange(kNow);
  }

  std::vector<std::string> messages(std::string_view bytes) {
    std::vector<std::string> all;
    for (Frame frame = first_message(bytes, ""); frame.fault == FrameFault::none; frame = first_message(bytes, "")) {
      all.emplace_back(frame.message);
      bytes.remove_prefix(frame.size);
    }
    EXPECT_TRUE(bytes.empty());
    return all;
  }

  std::vector<int> statuses(std::int32_t stream) {
    std::vector<int> all;
    for (const std::string& bytes : messages(peers_.client().partial_body(stream))) {
      health_wire::HealthCheckResponse response;
      EXPECT_TRUE(response.ParseFromString(bytes));
      all.push_back(response.status());
    }
    return all;
  }

  std::unique_ptr<store::Store> store_ = testing::small_store();
  testing::RecordingOutbox outbox_;
  limiter::Limiter limiter_{*store_, {}};
  GrpcEndpoint endpoint_{limiter_, outbox_};
  GrpcPeers peers_{endpoint_};
};

TEST_F(GrpcStreamsTest, HealthChecksAndListsAreAnswered) {
  for (const bool serving : {true, false}) {
    endpoint_.set_serving(serving);
    const auto checked = peers_.call(kCheck, watch_for("ratelimit"), kNow);
    ASSERT_TRUE(checked);
    health_wire::HealthCheckResponse response;
    ASSERT_TRUE(response.ParseFromString(checked->body));
    EXPECT_EQ(response.status(), serving ? 1 : 2);
    const auto listed = peers_.call(kList, framed(""), kNow);
    ASSERT_TRUE(listed);
    health_wire::HealthListResponse list;
    ASSERT_TRUE(list.ParseFromString(listed->body));
    EXPECT_EQ(list.statuses().at("").status(), serving ? 1 : 2);
  }
}

TEST_F(GrpcStreamsTest, AWatchHearsTheStatusNowAndEveryChange) {
  const std::int32_t stream = open(kWatch, watch_for(""), true);
  EXPECT_EQ(statuses(stream), (std::vector<int>{1}));
  endpoint_.set_serving(true);
  EXPECT_TRUE(outbox_.http2.empty()) << "nothing changed";
  endpoint_.set_serving(false);
  EXPECT_EQ(outbox_.http2, (std::vector<const transport::Http2Server*>{&peers_.server()}));
  endpoint_.set_serving(true);
  peers_.exchange(kNow);
  EXPECT_EQ(statuses(stream), (std::vector<int>{1, 2, 1}));
  EXPECT_FALSE(peers_.answer()) << "it stays open";
}

TEST_F(GrpcStreamsTest, AWatchOfAnUnknownServiceSaysSoAndStaysOpen) {
  const std::int32_t stream = open(kWatch, watch_for("other"), true);
  endpoint_.set_serving(false);
  peers_.exchange(kNow);
  EXPECT_EQ(statuses(stream), (std::vector<int>{3}));
  EXPECT_FALSE(peers_.answer());
}

TEST_F(GrpcStreamsTest, AWatchMayArriveInPieces) {
  const std::string body = watch_for("ratelimit");
  const std::int32_t stream = open(kWatch, "", false);
  for (const char c : body) send(stream, {&c, 1});
  EXPECT_EQ(statuses(stream), (std::vector<int>{1}));
  send(stream, "", true);
  EXPECT_FALSE(peers_.answer());
}

TEST_F(GrpcStreamsTest, AWatchWithoutItsOneMessageIsAnError) {
  const struct {
    std::string body;
    std::string_view status;
  } cases[] = {{"", "13"},
               {std::string{"\0\0", 2}, "13"},
               {watch_for("") + watch_for(""), "13"},
               {framed("\x0a\x05"), "13"},
               {std::string{"\0\xff\xff\xff\xff", 5}, "8"}};
  for (const auto& each : cases) {
    const auto answer = peers_.call(kWatch, each.body, kNow);
    ASSERT_TRUE(answer) << ::testing::PrintToString(each.body);
    EXPECT_EQ(answer->status, each.status) << answer->message;
  }
}

TEST_F(GrpcStreamsTest, ASecondMessageEndsAWatch) {
  const std::int32_t stream = open(kWatch, watch_for(""), false);
  send(stream, watch_for(""));
  const auto answer = peers_.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, "13");
}

TEST_F(GrpcStreamsTest, AWatcherThatLeftIsToldNothing) {
  const std::int32_t reset = open(kWatch, watch_for(""), true);
  peers_.client().reset(reset, 8);
  peers_.exchange(kNow);
  {
    GrpcPeers gone{endpoint_};
    gone.client().post("limits", kWatch, GrpcPeers::grpc_headers(), watch_for(""));
    gone.exchange(kNow);
    endpoint_.forget(gone.server());
  }
  endpoint_.set_serving(false);
  EXPECT_TRUE(outbox_.http2.empty());
}

TEST_F(GrpcStreamsTest, EndStreamsEndsWhatWouldStayOpen) {
  open(kWatch, watch_for(""), true);
  open(kReflection, "", false);
  endpoint_.end_streams();
  EXPECT_EQ(outbox_.http2.size(), 2U);
  peers_.exchange(kNow);
  for (int i = 0; i < 2; ++i) {
    const auto answer = peers_.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, "14");
  }
}

TEST_F(GrpcStreamsTest, RefusesStreamsBeyondTheMaximum) {
  std::vector<std::unique_ptr<GrpcPeers>> many;
  const auto watch = [&many] {
    many.back()->client().post("limits", kWatch, GrpcPeers::grpc_headers(), watch_for(""));
    many.back()->exchange(kNow);
  };
  for (std::size_t i = 0; i < GrpcStreams::kMaxOpen; ++i) {
    if (i % GrpcStreams::kMaxOpenPerConnection == 0) many.push_back(std::make_unique<GrpcPeers>(endpoint_));
    watch();
  }
  EXPECT_FALSE(many.back()->answer());
  EXPECT_EQ(endpoint_.metrics().streams_refused.value(), 0U);
  many.push_back(std::make_unique<GrpcPeers>(endpoint_));
  watch();
  const auto answer = many.back()->answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, "8") << answer->message;
  EXPECT_EQ(endpoint_.metrics().streams_refused.value(), 1U);
}

TEST_F(GrpcStreamsTest, RefusesStreamsOfOneConnectionBeyondItsMaximum) {
  const auto watch = [this] {
    peers_.client().post("limits", kWatch, GrpcPeers::grpc_headers(), watch_for(""));
    peers_.exchange(kNow);
  };
  for (std::size_t i = 0; i < GrpcStreams::kMaxOpenPerConnection; ++i) watch();
  EXPECT_FALSE(peers_.answer());
  watch();
  const auto answer = peers_.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, "8");
  EXPECT_EQ(answer->message, "256 streams of this connection are open, which is the most");
  EXPECT_EQ(endpoint_.metrics().streams_refused.value(), 1U);
}

TEST_F(GrpcStreamsTest, ReflectionAnswersQuestionAfterQuestion) {
  for (const std::string_view path : {kReflection, kReflectionAlpha}) {
    const std::int32_t stream = open(path, "", false);
    const std::string whole = question("grpc.health.v1.Health");
    send(stream, whole.substr(0, 7));
    EXPECT_TRUE(messages(peers_.client().partial_body(stream)).empty());
    send(stream, whole.substr(7) + question("no.such.Symbol"));
    const auto answers = messages(peers_.client().partial_body(stream));
    ASSERT_EQ(answers.size(), 2U);
    reflection_wire::ServerReflectionResponse found, missing;
    ASSERT_TRUE(found.ParseFromString(answers[0]) && missing.ParseFromString(answers[1]));
    EXPECT_EQ(found.file_descriptor_response().file_descriptor_proto_size(), 1);
    EXPECT_EQ(missing.error_response().error_code(), 5);
    send(stream, question("grpc.health.v1.Health"), true);
    const auto answer = peers_.answer();
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, "0");
  }
}

TEST_F(GrpcStreamsTest, ReflectionEndsAtAFault) {
  std::string flood;
  for (std::size_t i = 0; i <= GrpcStreams::kMaxQuestionsAtOnce; ++i) flood += question("x");
  const struct {
    std::string body;
    std::string_view status;
  } cases[] = {{framed("\x0a\x05"), "13"},
               {question("x").substr(0, 6), "13"},
               {std::string{"\1\0\0\0\0", 5}, "13"},
               {std::string{"\0\xff\xff\xff\xff", 5}, "8"},
               {flood, "8"},
               {"", "0"}};
  for (const auto& each : cases) {
    const auto answer = peers_.call(kReflection, each.body, kNow);
    ASSERT_TRUE(answer) << ::testing::PrintToString(each.body);
    EXPECT_EQ(answer->status, each.status) << answer->message;
  }
  EXPECT_EQ(endpoint_.metrics().streams_refused.value(), 1U) << "too many questions at once";
}

}  // namespace
}  // namespace penstock::protocol
