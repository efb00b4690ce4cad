#include "penstock/protocol/health.h"

#include <gtest/gtest.h>

#include "grpc/health/v1/health.pb.h"

namespace penstock::protocol {
namespace {

namespace wire = grpc::health::v1;

std::string request_for(const std::string& service) {
  wire::HealthCheckRequest request;
  request.set_service(service);
  return request.SerializeAsString();
}

TEST(Health, BothServicesMirrorOneFlag) {
  Health health;
  for (const bool serving : {false, true, false}) {
    health.set_serving(serving);
    for (const char* service : {"", "ratelimit"}) {
      std::string reply;
      ASSERT_TRUE(health.check(request_for(service), reply)) << service;
      wire::HealthCheckResponse response;
      ASSERT_TRUE(response.ParseFromString(reply));
      EXPECT_EQ(response.status(),
                serving ? wire::HealthCheckResponse::SERVING : wire::HealthCheckResponse::NOT_SERVING);
    }
  }
}

TEST(Health, AnUnknownServiceIsNotFoundByCheckAndUnknownToWatch) {
  const Health health;
  std::string reply;
  const auto checked = health.check(request_for("other"), reply);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::not_found);
  EXPECT_TRUE(checked.error().message.contains("\"other\"")) << checked.error().message;
  EXPECT_EQ(health.status_of("other"), ServingStatus::service_unknown);
  EXPECT_EQ(Health::watched_service(request_for("other")), "other");
}

TEST(Health, ListNamesAllServices) {
  Health health;
  health.set_serving(true);
  std::string reply;
  ASSERT_TRUE(health.list("", reply));
  wire::HealthListResponse response;
  ASSERT_TRUE(response.ParseFromString(reply));
  EXPECT_EQ(response.statuses_size(), 2);
  EXPECT_EQ(response.statuses().at("ratelimit").status(), wire::HealthCheckResponse::SERVING);
}

TEST(Health, BytesThatAreNoRequestAreAnInternalError) {
  const Health health;
  std::string reply;
  EXPECT_EQ(health.check("\x0a\x05", reply).error().code, ErrorCode::internal);
  EXPECT_EQ(health.list("\x0a\x05", reply).error().code, ErrorCode::internal);
  EXPECT_EQ(Health::watched_service("\x0a\x01\xff").error().code, ErrorCode::internal);
}

}  // namespace
}  // namespace penstock::protocol
