// Verdicts of a store that answers later.

#include <gtest/gtest.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/protocol/testing/grpc_peers.h"
#include "penstock/store/testing/faulty_store.h"

namespace penstock::protocol {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using store::testing::Fault;
using testing::GrpcPeers;

constexpr std::string_view kShouldRateLimit = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

class GrpcLateTest : public ::testing::Test {
 protected:
  GrpcLateTest() {
    limiter_.use_rules(testing::rules_of(R"(
domain: shop
descriptors:
  - key: user
    rate_limit: {unit: hour, requests_per_unit: 100}
)"));
  }

  std::int32_t post(GrpcPeers& peers, const char* user) {
    RateLimitRequest request;
    request.set_domain("shop");
    auto& entry = *request.add_descriptors()->add_entries();
    entry.set_key("user");
    entry.set_value(user);
    const std::int32_t stream =
        peers.client().post("limits", kShouldRateLimit, GrpcPeers::grpc_headers(), framed(request.SerializeAsString()));
    peers.exchange(kNow);
    return stream;
  }

  static std::uint32_t remaining(const std::optional<testing::Answer>& answer) {
    RateLimitResponse response;
    EXPECT_TRUE(answer && answer->status == "0" && response.ParseFromString(answer->body));
    return response.statuses_size() == 1 ? response.statuses(0).limit_remaining() : 0;
  }

  std::unique_ptr<store::Store> memory_ = testing::small_store();
  store::testing::FaultyStore store_{*memory_, {}, Fault::delay};
  testing::RecordingOutbox outbox_;
  limiter::Limiter limiter_{store_, {.counter_key = {1, 2}}};
  GrpcEndpoint endpoint_{limiter_, outbox_};
  GrpcPeers first_{endpoint_};
  GrpcPeers second_{endpoint_};
};

TEST_F(GrpcLateTest, ALateVerdictFindsItsStreamAndIsFlushed) {
  post(first_, "a");
  post(second_, "b");
  const std::int32_t last = post(first_, "a");
  EXPECT_EQ(endpoint_.waiting(), 3U);
  EXPECT_FALSE(first_.answer());

  store_.answer(2);  // answers may overtake each other
  ASSERT_EQ(outbox_.http2.size(), 1U);
  EXPECT_EQ(outbox_.http2[0], &first_.server());
  first_.exchange(kNow);
  const auto response = first_.client().next_response();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->stream, last);

  store_.answer_all();
  first_.exchange(kNow);
  second_.exchange(kNow);
  EXPECT_EQ(remaining(first_.answer()), 99U);
  EXPECT_EQ(remaining(second_.answer()), 99U);
  EXPECT_EQ(endpoint_.waiting(), 0U);
}

TEST_F(GrpcLateTest, AResetDropsTheReplyAndNotTheCharge) {
  const std::int32_t stream = post(first_, "a");
  first_.client().reset(stream, 8);
  first_.exchange(kNow);
  store_.answer_all();
  first_.exchange(kNow);
  EXPECT_FALSE(first_.answer());

  post(first_, "a");
  store_.answer_all();
  first_.exchange(kNow);
  EXPECT_EQ(remaining(first_.answer()), 98U);
}

TEST_F(GrpcLateTest, AConnectionThatIsGoneIsNotTouchedAndTheChargeStays) {
  {
    GrpcPeers gone{endpoint_};
    post(gone, "a");
    post(gone, "a");
    endpoint_.forget(gone.server());
  }
  EXPECT_EQ(endpoint_.waiting(), 2U) << "they are still being decided";
  store_.answer_all();
  EXPECT_EQ(endpoint_.waiting(), 0U);
  EXPECT_TRUE(outbox_.http2.empty());

  post(first_, "a");
  store_.answer_all();
  first_.exchange(kNow);
  EXPECT_EQ(remaining(first_.answer()), 97U);
}

TEST_F(GrpcLateTest, AStoreThatFailsIsUnavailable) {
  store::testing::FaultyStore broken{*memory_, {}, Fault::refuse};
  limiter::Limiter limiter{broken, {.counter_key = {1, 2}}};
  GrpcEndpoint endpoint{limiter, outbox_};
  limiter.use_rules(
      testing::rules_of("{domain: shop, descriptors: [{key: user, rate_limit: {unit: day, requests_per_unit: 1}}]}"));
  GrpcPeers peers{endpoint};
  post(peers, "a");
  const auto answer = peers.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, "14") << answer->message;
}

TEST_F(GrpcLateTest, ALateReplyTellsTheRequestThatItAnswers) {
  GrpcEndpoint endpoint{limiter_, outbox_, {.dynamic_metadata = true, .decider_header = true}};
  GrpcPeers peers{endpoint};
  post(peers, "a");
  peers.client().reset(post(peers, "gone"), 8);
  peers.exchange(kNow);
  post(peers, "b");
  store_.answer_all();
  peers.exchange(kNow);
  for (const char* user : {"a", "b"}) {
    RateLimitResponse response;
    const auto answer = peers.answer();
    ASSERT_TRUE(answer && response.ParseFromString(answer->body));
    const auto& metadata = response.dynamic_metadata().fields();
    const auto& entries = metadata.at("descriptors").list_value().values(0).struct_value().fields().at("entries");
    EXPECT_EQ(entries.list_value().values(0).string_value(), std::string{"user="} + user);
    EXPECT_EQ(response.response_headers_to_add_size(), 1);
  }
}

}  // namespace
}  // namespace penstock::protocol
