#include "penstock/transport/patience.h"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "penstock/transport/http1_server.h"
#include "penstock/transport/http2_server.h"
#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using std::chrono::seconds;
using testing::client_preface;
using ::testing::ElementsAre;
using testing::frame;
using testing::frames_of;
using ::testing::HasSubstr;
using testing::kNow;
using testing::Loopback;

constexpr std::uint8_t kHeaders = 1;
constexpr std::uint8_t kReset = 3;
constexpr std::uint8_t kGoaway = 7;
constexpr std::uint8_t kContinuation = 9;

std::string post_block() { return "\x83\x86\x44\x04/rls\x41\x01p"; }

template <class Server>
std::string written_by(Server& server) {
  std::string bytes{server.output()};
  server.written(bytes.size());
  return bytes;
}

// Calls `expire` each second from `from` to `to`; false when the server gave up.
template <class Server>
bool pass(Server& server, seconds from, seconds to, const Patience& patience = {}) {
  for (seconds at = from; at <= to; ++at) {
    if (!server.expire(kNow + at, patience)) return false;
  }
  return true;
}

TEST(Wait, CountsFromWhenItIsFirstSeen) {
  Wait wait;
  EXPECT_FALSE(wait.over(true, kNow, seconds{2}));
  EXPECT_FALSE(wait.over(true, kNow + seconds{1}, seconds{2}));
  EXPECT_TRUE(wait.over(true, kNow + seconds{2}, seconds{2}));
  EXPECT_FALSE(wait.over(false, kNow + seconds{3}, seconds{2}));
  EXPECT_FALSE(wait.over(true, kNow + seconds{9}, seconds{2})) << "from the beginning";
}

TEST(SlowReader, IsOneThatNeitherTakesAllNorMuch) {
  OutputBuffer output;
  SlowReader reader;
  output.append(1'000'000, 'x');
  for (int second = 0; second < 60; ++second) {
    EXPECT_FALSE(reader.over(output, kNow + seconds{second}, seconds{30})) << second;
    if (second % 20 == 0) output.written(SlowReader::kLeastProgress);
  }
  int second = 60;
  while (second < 200 && !reader.over(output, kNow + seconds{second}, seconds{30})) {
    output.written(1);
    ++second;
  }
  EXPECT_NEAR(second, 41 + 30, 2);
}

TEST(SlowReader, IsNotOneThatEmptiesASmallOutputBetweenTwoLooks) {
  OutputBuffer output;
  SlowReader reader;
  for (int second = 0; second < 100; ++second) {
    output.append(10, 'x');
    EXPECT_FALSE(reader.over(output, kNow + seconds{second}, seconds{30}));
    output.written(output.size());
    output.append(10, 'x');
  }
}

TEST(Http1Patience, AnswersAHalfSentRequest408) {
  for (const std::string_view part :
       {"G", "GET /json HTTP/1.1\r\nhost: x\r\n", "POST /json HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n12345678",
        "POST /json HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n"}) {
    Http1Metrics metrics;
    Http1Server server{{.metrics = &metrics}};
    ASSERT_TRUE(server.receive(part, kNow));
    ASSERT_TRUE(pass(server, seconds{0}, seconds{9}));
    EXPECT_EQ(server.output(), "") << part;
    ASSERT_TRUE(pass(server, seconds{10}, seconds{10}));
    const std::string reply = written_by(server);
    EXPECT_THAT(reply, HasSubstr("HTTP/1.1 408 Request Timeout\r\n")) << part;
    EXPECT_THAT(reply, HasSubstr("connection: close\r\n")) << part;
    EXPECT_TRUE(server.finished());
    EXPECT_FALSE(server.receive("more", kNow));
    EXPECT_EQ(metrics.late_requests.value(), 1U);
  }
}

TEST(Http1Patience, ADripOfBytesBuysNoTime) {
  Http1Server server{{}};
  std::string_view rest = "GET /healthcheck HTTP/1.1\r\nhost: a-name-that-comes-slowly\r\n\r\n";
  int second = 0;
  for (; second < 60 && server.wants_input(); ++second, rest.remove_prefix(1)) {
    static_cast<void>(server.receive(rest.substr(0, 1), kNow));
    ASSERT_TRUE(server.expire(kNow + seconds{second}, {}));
  }
  EXPECT_EQ(second, 11);
  EXPECT_THAT(std::string{server.output()}, HasSubstr(" 408 "));
}

TEST(Http1Patience, EndsAConnectionWithoutRequestsSilently) {
  Http1Server server{{}};
  for (int request = 0; request < 2; ++request) {
    ASSERT_TRUE(server.receive("GET / HTTP/1.1\r\nhost: x\r\n\r\n", kNow));
    ASSERT_EQ(server.requests().size(), 1U);
    server.respond(server.requests()[0].stream, {});
    static_cast<void>(written_by(server));
    ASSERT_TRUE(pass(server, seconds{request * 50}, seconds{request * 50 + 49}));
    EXPECT_FALSE(server.finished());
  }
  ASSERT_TRUE(pass(server, seconds{100}, seconds{112}));
  EXPECT_TRUE(server.finished());
  EXPECT_EQ(server.output(), "");
}

TEST(Http1Patience, HoldsNothingAgainstThePeerWhileAnAnswerIsOurs) {
  Http1Server server{{}};
  ASSERT_TRUE(server.receive("GET /a HTTP/1.1\r\nhost: x\r\n\r\nGET /b HTTP", kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  ASSERT_TRUE(pass(server, seconds{0}, seconds{300}));
  EXPECT_TRUE(server.wants_input());
  server.respond(1, {.body = "late"});
  EXPECT_THAT(written_by(server), HasSubstr("late"));
  ASSERT_TRUE(server.receive("/1.1\r\nhost: x\r\n\r\n", kNow));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(Http1Patience, GivesUpOnAPeerThatDoesNotRead) {
  Http1Metrics metrics;
  Http1Server server{{.metrics = &metrics}};
  ASSERT_TRUE(server.receive("GET / HTTP/1.1\r\nhost: x\r\n\r\n", kNow));
  server.respond(1, {.body = "unread"});
  EXPECT_TRUE(pass(server, seconds{0}, seconds{29}));
  EXPECT_FALSE(pass(server, seconds{30}, seconds{30}));
  EXPECT_EQ(metrics.cut_for_slow_reading.value(), 1U);
}

TEST(Http2Patience, ResetsAHalfSentRequestAndLeavesTheOthers) {
  Http2Metrics metrics;
  Http2Server server{{.metrics = &metrics}};
  ASSERT_TRUE(server.receive(client_preface() + frame(kHeaders, 4, 1, post_block()) +
                                 frame(kHeaders, 5, 3, post_block()) + frame(kHeaders, 0, 5, post_block()),
                             kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  static_cast<void>(written_by(server));
  ASSERT_TRUE(pass(server, seconds{0}, seconds{9}));
  EXPECT_EQ(server.output(), "");
  ASSERT_TRUE(pass(server, seconds{10}, seconds{10}));
  const auto frames = frames_of(written_by(server));
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].type, kReset);
  EXPECT_EQ(frames[0].stream + frames[1].stream, 1U + 5U);
  EXPECT_EQ(metrics.late_requests.value(), 2U);

  // The header block of stream 5 may still end; the connection goes on.
  ASSERT_TRUE(server.receive(frame(kContinuation, 4, 5, "\x0f\x0d\x01x") + frame(kHeaders, 5, 7, post_block()), kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].stream, 7);
  server.respond(3, {.body = "still open"});
  EXPECT_FALSE(server.output().empty());
}

TEST(Http2Patience, ResetsAReplyThatTheWindowHoldsBack) {
  Http2Metrics metrics;
  Http2Server server{{.metrics = &metrics}};
  const std::string no_window{"\0\4\0\0\0\0", 6};
  ASSERT_TRUE(server.receive(
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, no_window) + frame(kHeaders, 5, 1, post_block()), kNow));
  server.respond(1, {.body = "held back"});
  static_cast<void>(written_by(server));
  EXPECT_EQ(server.open_streams(), 1U);
  ASSERT_TRUE(pass(server, seconds{0}, seconds{29}));
  EXPECT_EQ(server.open_streams(), 1U);
  ASSERT_TRUE(pass(server, seconds{30}, seconds{30}));
  EXPECT_EQ(server.open_streams(), 0U);
  EXPECT_EQ(metrics.late_replies.value(), 1U);
}

TEST(Http2Patience, CutsAConnectionThatDoesNotIntroduceItself) {
  for (const std::string_view part : {"", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "PRI * HT"}) {
    Http2Server server{Http2Options{}};
    ASSERT_TRUE(server.receive(part, kNow));
    ASSERT_TRUE(pass(server, seconds{0}, seconds{9}));
    EXPECT_TRUE(server.wants_input());
    ASSERT_TRUE(pass(server, seconds{10}, seconds{10}));
    EXPECT_EQ(frames_of(written_by(server)).back().type, kGoaway) << part;
    EXPECT_TRUE(server.finished());
  }
}

TEST(Http2Patience, KeepsAnIdleConnectionThatWasUsedAndForHoursOneThatWasNot) {
  Loopback used{testing::echo};
  const auto answered = [&] {
    const std::int32_t stream = used.client.post("penstock", "/rls", {}, "x");
    return used.answers().contains(stream);
  };
  Http2Metrics metrics;
  Loopback unused{testing::echo, {.metrics = &metrics}};
  unused.run();
  ASSERT_TRUE(answered());
  EXPECT_TRUE(pass(used.server, seconds{0}, seconds{7199}));
  EXPECT_TRUE(pass(unused.server, seconds{0}, seconds{7199}));
  EXPECT_TRUE(answered()) << "though what it kept for reuse was given back";
  EXPECT_FALSE(unused.client.goaway_received());
  EXPECT_TRUE(pass(used.server, seconds{7200}, seconds{8000}));
  EXPECT_TRUE(pass(unused.server, seconds{7200}, seconds{7201}));
  unused.run();
  EXPECT_TRUE(unused.client.goaway_received());
  EXPECT_TRUE(unused.server.finished());
  EXPECT_EQ(metrics.ended_unused.value(), 1U);
  EXPECT_TRUE(answered());
}

TEST(Http2Patience, AStreamingAnswerTakesAsLongAsItLikes) {
  constexpr std::array<std::string_view, 1> kStreaming{"/rls"};
  Http2Server server{{.streaming_paths = kStreaming}};
  ASSERT_TRUE(server.receive(
      client_preface() + frame(kHeaders, 4, 1, post_block()) + frame(kHeaders, 4, 3, post_block()), kNow));
  server.begin_stream(1, {});
  static_cast<void>(written_by(server));
  ASSERT_TRUE(pass(server, seconds{0}, seconds{10}));
  static_cast<void>(written_by(server));
  ASSERT_TRUE(pass(server, seconds{11}, seconds{4000}));
  EXPECT_EQ(server.open_streams(), 1U) << "the other asked nothing and is gone";
  ASSERT_TRUE(server.receive("", kNow));
  EXPECT_THAT(server.resets(), ElementsAre(3));
}

constexpr std::size_t kAlways = ByteAccount::kAlways;

TEST(HeldBytes, AreSharedByAllConnectionsAndGivenBackWithThem) {
  ByteBudget budget{2 * kAlways};
  Http2Metrics metrics;
  {
    const Http2Options options{.held = &budget, .metrics = &metrics};
    Http2Server first{options}, second{options};
    const auto half = [](std::size_t size) {
      std::string bytes = client_preface() + frame(kHeaders, 4, 1, post_block());
      for (std::size_t sent = 0; sent < size; sent += 8192) bytes += frame(0, 0, 1, std::string(8192, 'x'));
      return bytes;
    };
    ASSERT_TRUE(first.receive(half(kAlways + 8192), kNow));
    EXPECT_GE(budget.used(), kAlways + 8192);
    EXPECT_EQ(first.held_bytes(), budget.used());
    EXPECT_FALSE(budget.take_refused());
    ASSERT_TRUE(second.receive(half(kAlways), kNow));
    ASSERT_EQ(second.requests().size(), 1U);
    EXPECT_TRUE(second.requests()[0].oversize);
    EXPECT_EQ(metrics.held_bytes_refused.value(), 1U);
    EXPECT_TRUE(budget.take_refused());

    Http1Server third{{.held = &budget}};
    EXPECT_FALSE(third.receive(
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 999999\r\n\r\n" + std::string(2 * kAlways, 'x'), kNow));
    EXPECT_THAT(std::string{third.output()}, HasSubstr(" 503 "));
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(HeldBytes, ThatOthersHoldKeepNobodyFromAskingALittle) {
  ByteBudget budget{1000};
  Http2Server greedy{{.held = &budget}}, modest{{.held = &budget}};
  std::string opened = client_preface();
  for (std::uint32_t stream = 1; stream < 400; stream += 2) opened += frame(kHeaders, 4, stream, post_block());
  ASSERT_TRUE(greedy.receive(opened, kNow));
  EXPECT_LT(greedy.open_streams(), 200U) << "what it may always hold is used up";
  ASSERT_TRUE(budget.overdrawn());
  ASSERT_TRUE(modest.receive(
      client_preface() + frame(kHeaders, 4, 1, post_block()) + frame(0, 1, 1, std::string(600, 'x')), kNow));
  ASSERT_EQ(modest.requests().size(), 1U);
  EXPECT_FALSE(modest.requests()[0].oversize);

  Http1Server http1{{.held = &budget}};
  ASSERT_TRUE(http1.receive("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 900\r\n\r\n" + std::string(900, 'x'), kNow));
  EXPECT_EQ(http1.requests().size(), 1U);
}

// What is refused costs the peer a stream, and nothing else: not the connection, and not what was asked before.
TEST(HeldBytes, RefuseStreamsThatThereIsNoRoomFor) {
  ByteBudget budget{1000};
  Http2Metrics metrics;
  Http2Server server{{.held = &budget, .metrics = &metrics}};
  std::string opened = client_preface();
  for (std::uint32_t stream = 1; stream < 400; stream += 2) opened += frame(kHeaders, 4, stream, post_block());
  ASSERT_TRUE(server.receive(opened, kNow));
  EXPECT_EQ(server.open_streams() + metrics.refused_streams.value(), 200U);
  EXPECT_LE(server.held_bytes(), kAlways + 1000);
  ASSERT_TRUE(server.receive(frame(0, 1, 1, std::string(10, 'x')), kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  server.respond(1, {.body = "yes"});
  ASSERT_TRUE(server.receive("", kNow));
}

TEST(HeldBytes, AreThoseOfOpenStreamsAndUnreadAnswersToo) {
  ByteBudget budget{1'000'000};
  Http2Server server{{.held = &budget}};
  ASSERT_TRUE(server.receive(client_preface() + frame(kHeaders, 4, 1, post_block()), kNow));
  EXPECT_GE(budget.used(), 800U);
  server.respond(1, {.body = std::string(30'000, 'x')});
  ASSERT_TRUE(server.receive("", kNow));
  EXPECT_GE(budget.used(), 30'000U);
  server.written(server.output().size());
  EXPECT_LT(budget.used(), 30'000U);

  Http1Server http1{{.held = &budget}};
  const std::size_t before = budget.used();
  ASSERT_TRUE(http1.receive("GET / HTTP/1.1\r\nhost: x\r\n\r\n", kNow));
  http1.respond(1, {.body = std::string(30'000, 'x')});
  ASSERT_TRUE(http1.receive("", kNow));
  EXPECT_GE(budget.used(), before + 30'000);
  http1.written(http1.output().size());
  EXPECT_EQ(budget.used(), before);
}

// A whole request is answered; what it asked was charged.
TEST(HeldBytes, CloseNoConnectionWhoseRequestsAreWhole) {
  ByteBudget budget{1000};
  Http1Server server{{.held = &budget}};
  const std::string body(2 * kAlways, 'x');
  ASSERT_TRUE(server.receive(
      "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body, kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  server.respond(1, {.body = "yes"});
  EXPECT_THAT(std::string{server.output()}, HasSubstr(" 200 "));
  EXPECT_FALSE(server.finished());
}

TEST(HeldBytes, CountRepliesThatWaitForTheWindow) {
  ByteBudget budget{100'000};
  Http2Metrics metrics;
  {
    Http2Server server{{.max_held_bytes = 10'000, .held = &budget, .metrics = &metrics}};
    const std::string no_window{"\0\4\0\0\0\0", 6};
    ASSERT_TRUE(server.receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, no_window), kNow));
    for (std::int32_t stream = 1; stream < 41; stream += 2) {
      ASSERT_TRUE(server.receive(frame(kHeaders, 5, static_cast<std::uint32_t>(stream), post_block()), kNow));
      server.respond(stream, {.body = std::string(1000, 'x')});
      static_cast<void>(written_by(server));
    }
    EXPECT_LE(budget.used(), 10'000U + 2000U) << "the last one goes with the next turn";
    EXPECT_EQ(metrics.overflowing_streams.value(), 15U);
    EXPECT_EQ(server.open_streams(), 5U);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(HeldBytes, OfAnAnsweredRequestAreGivenBackByAConnectionThatWaits) {
  ByteBudget budget{10'000};
  Http1Server http1{{.held = &budget}};
  ASSERT_TRUE(http1.receive("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 900\r\n\r\n" + std::string(900, 'x'), kNow));
  http1.respond(1, {});
  static_cast<void>(written_by(http1));
  Http2Server http2{{.held = &budget}};
  ASSERT_TRUE(http2.receive(
      client_preface() + frame(kHeaders, 4, 1, post_block()) + frame(0, 1, 1, std::string(600, 'x')), kNow));
  http2.respond(1, {});
  static_cast<void>(written_by(http2));
  EXPECT_GE(budget.used(), 1500U);
  EXPECT_TRUE(http1.expire(kNow, {}));
  EXPECT_TRUE(http2.expire(kNow, {}));
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace penstock::transport
