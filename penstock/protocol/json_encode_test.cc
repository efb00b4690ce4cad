#include <gtest/gtest.h>

#include "penstock/protocol/json.h"

namespace penstock::protocol {
namespace {

const rules::RuleLimit kDay{
    .limit = algorithm::Limit::original_window(8, 86'400), .unit = rules::Unit::day, .requests_per_unit = 8};

std::string json_of(limiter::Code overall, std::span<const limiter::Status> statuses) {
  std::string out;
  encode_json({.overall = overall, .statuses = statuses, .error = nullptr}, {}, out);
  return out;
}

TEST(JsonEncode, NamesWhatIsThereAndLeavesOutZeros) {
  const rules::Rule rule{.name = "a \"name\"\n"};
  const limiter::Status statuses[] = {{.remaining = 7, .reset_seconds = 30, .rule = &rule, .limit = &kDay},
                                      {.code = limiter::Code::over_limit, .reset_seconds = 0, .limit = &kDay},
                                      {}};
  EXPECT_EQ(json_of(limiter::Code::over_limit, statuses),
            R"({"overallCode":"OVER_LIMIT","statuses":[)"
            R"({"code":"OK","currentLimit":{"requestsPerUnit":8,"unit":"DAY","name":"a \"name\"\n"},)"
            R"("limitRemaining":7,"durationUntilReset":"30s"},)"
            R"({"code":"OVER_LIMIT","currentLimit":{"requestsPerUnit":8,"unit":"DAY"},"durationUntilReset":"0s"},)"
            R"({"code":"OK"}]})");
}

TEST(JsonEncode, LeavesOutALimitOfZeroRequests) {
  rules::RuleLimit blocked = kDay;
  blocked.requests_per_unit = 0;
  const limiter::Status status{.code = limiter::Code::over_limit, .limit = &blocked};
  EXPECT_EQ(json_of(limiter::Code::over_limit, {&status, 1}),
            R"({"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT","currentLimit":{"unit":"DAY"}}]})");
}

TEST(JsonEncode, IsShortWithoutStatuses) { EXPECT_EQ(json_of(limiter::Code::ok, {}), R"({"overallCode":"OK"})"); }

}  // namespace
}  // namespace penstock::protocol
