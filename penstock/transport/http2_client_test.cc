#include "penstock/transport/http2_client.h"

#include <string>

#include <gtest/gtest.h>

#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using testing::echo;
using testing::Loopback;

TEST(Http2Client, TakesARequestAfterTheGoawayForUnanswered) {
  Loopback loop{echo};
  loop.server.shut_down();
  loop.server.shut_down();
  loop.run();
  const std::int32_t stream = loop.client.post("penstock", "/rls", {}, "x");
  EXPECT_TRUE(loop.answers().at(stream).reset);
}

TEST(Http2Client, GetsWholeAnswersFromBytesOneByOne) {
  Loopback loop{echo};
  const std::int32_t first = loop.client.post("penstock", "/rls", {}, "one");
  const std::int32_t second = loop.client.post("penstock", "/rls", {}, std::string(40'000, 'x'));
  const auto answers = loop.answers(1);
  EXPECT_EQ(answers.at(first).body, "one");
  EXPECT_EQ(answers.at(second).body.size(), 40'000U);
}

TEST(Http2Client, ResetsAnAnswerThatPassesItsMaximum) {
  Loopback loop{echo, {}, {.max_body_bytes = 1000}};
  const std::int32_t large = loop.client.post("penstock", "/rls", {}, std::string(1001, 'x'));
  const std::int32_t fits = loop.client.post("penstock", "/rls", {}, std::string(1000, 'x'));
  const auto answers = loop.answers();
  EXPECT_TRUE(answers.at(large).reset);
  EXPECT_EQ(answers.at(fits).body.size(), 1000U);
}

}  // namespace
}  // namespace penstock::transport
