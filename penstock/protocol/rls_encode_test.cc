#include <array>

#include <gtest/gtest.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/base/testing/allocation_count.h"
#include "penstock/protocol/rls_message.h"

namespace penstock::protocol {
namespace {

using envoy::service::ratelimit::v3::RateLimitResponse;

struct Answers {
  rules::RuleLimit minute{
      .limit = algorithm::Limit::original_window(600, 60), .unit = rules::Unit::minute, .requests_per_unit = 600};
  rules::RuleLimit blocked{
      .limit = algorithm::Limit::original_window(0, 604'800), .unit = rules::Unit::week, .requests_per_unit = 0};
  rules::Rule named{.name = "a name that is too long for a short string"};
  rules::Rule plain;
  std::array<limiter::Status, 6> statuses;

  Answers() {
    statuses[0] = {.remaining = 599, .reset_seconds = 60, .rule = &named, .limit = &minute};
    statuses[1] = {.code = limiter::Code::over_limit, .reset_seconds = 604'800, .rule = &plain, .limit = &blocked};
    statuses[3] = {.remaining = limiter::Status::kUnlimited, .rule = &plain};
    statuses[4] = {.code = limiter::Code::over_limit, .limit = &minute};
    statuses[5] = {.reset_seconds = 0, .limit = &minute};
  }

  [[nodiscard]] limiter::Verdict verdict() const {
    return {.overall = limiter::Code::over_limit, .statuses = statuses, .error = nullptr};
  }
};

RateLimitResponse decoded(std::string_view bytes) {
  RateLimitResponse response;
  EXPECT_TRUE(response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return response;
}

TEST(RlsEncode, SaysEverythingOfEachStatus) {
  const Answers answers;
  std::string bytes;
  encode_response(answers.verdict(), bytes);
  const RateLimitResponse response = decoded(bytes);
  EXPECT_EQ(response.SerializeAsString(), bytes) << "libprotobuf writes the same bytes";
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT);
  ASSERT_EQ(response.statuses_size(), 6);

  const auto& within = response.statuses(0);
  EXPECT_EQ(within.code(), RateLimitResponse::OK);
  EXPECT_EQ(within.current_limit().requests_per_unit(), 600U);
  EXPECT_EQ(within.current_limit().unit(), RateLimitResponse::RateLimit::MINUTE);
  EXPECT_EQ(within.current_limit().name(), answers.named.name);
  EXPECT_EQ(within.limit_remaining(), 599U);
  EXPECT_EQ(within.duration_until_reset().seconds(), 60);

  const auto& over = response.statuses(1);
  EXPECT_EQ(over.code(), RateLimitResponse::OVER_LIMIT);
  EXPECT_EQ(over.current_limit().unit(), RateLimitResponse::RateLimit::WEEK);
  EXPECT_EQ(over.current_limit().name(), "");
  EXPECT_EQ(over.duration_until_reset().seconds(), 604'800);
}

TEST(RlsEncode, IsABareOkWhereNothingLimits) {
  const Answers answers;
  std::string bytes;
  encode_response(answers.verdict(), bytes);
  const auto bare = decoded(bytes).statuses(2);
  EXPECT_EQ(bare.ShortDebugString(), "code: OK");
}

TEST(RlsEncode, TellsNoLimitOfAnUnlimitedRule) {
  const Answers answers;
  std::string bytes;
  encode_response(answers.verdict(), bytes);
  EXPECT_EQ(decoded(bytes).statuses(3).ShortDebugString(), "code: OK limit_remaining: 4294967295");
}

TEST(RlsEncode, LeavesOutAWaitThatDoesNotHelpButNotOneOfZero) {
  const Answers answers;
  std::string bytes;
  encode_response(answers.verdict(), bytes);
  EXPECT_FALSE(decoded(bytes).statuses(4).has_duration_until_reset());
  EXPECT_TRUE(decoded(bytes).statuses(5).has_duration_until_reset());
}

TEST(RlsEncode, AppendsToWhatIsThere) {
  const Answers answers;
  std::string alone;
  encode_response(answers.verdict(), alone);
  std::string bytes = "prefix";
  encode_response(answers.verdict(), bytes);
  EXPECT_EQ(bytes, "prefix" + alone);
}

TEST(RlsEncode, AllocatesNothingOnceWarm) {
  const Answers answers;
  std::string bytes;
  encode_response(answers.verdict(), bytes);
  const std::uint64_t before = allocation_count();
  bytes.clear();
  encode_response(answers.verdict(), bytes);
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace penstock::protocol
