#include "penstock/server/log.h"

#include <gtest/gtest.h>

namespace penstock::server {
namespace {

constexpr Instant kStart = instant_from_unix_seconds(1'800'000'000);

TEST(LogGate, LetsAFewEventsOfASecondThroughAndSaysHowManyItHeldBack) {
  LogGate gate{2};
  EXPECT_TRUE(gate.pass(kStart).open);
  EXPECT_TRUE(gate.pass(kStart).open);
  for (int event = 0; event < 1000; ++event)
    EXPECT_FALSE(gate.pass(kStart + std::chrono::milliseconds{event / 2}).open);
  const LogGate::Pass pass = gate.pass(kStart + std::chrono::seconds{1});
  EXPECT_TRUE(pass.open);
  EXPECT_EQ(pass.suppressed, 1000u);
  EXPECT_EQ(gate.pass(kStart + std::chrono::seconds{1}).suppressed, 0u);
}

TEST(LogGate, IsNotShutByAClockThatStepsBack) {
  LogGate gate{1};
  EXPECT_TRUE(gate.pass(kStart).open);
  EXPECT_TRUE(gate.pass(kStart - std::chrono::hours{1}).open);
}

TEST(LogLevel, IsOneOfFourWords) {
  EXPECT_EQ(parse_log_level("warn"), spdlog::level::warn);
  EXPECT_EQ(parse_log_level("warning"), spdlog::level::warn) << "as the log itself writes it";
  ASSERT_FALSE(parse_log_level("loud"));
  EXPECT_NE(parse_log_level("loud").error().message.find("debug, info, warn and error"), std::string::npos);
}

}  // namespace
}  // namespace penstock::server
