// Windows, streaming, and peers that do not read.

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "penstock/transport/http2_server.h"
#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using testing::client_preface;
using ::testing::Contains;
using testing::echo;
using ::testing::ElementsAre;
using testing::frame;
using testing::frames_of;
using testing::kNow;
using testing::Loopback;
using ::testing::Pair;

constexpr std::array<std::string_view, 1> kStreaming{"/watch"};
constexpr std::array kOk{Header{.name = "grpc-status", .value = "0"}};

std::string text_of_size(std::size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(text.size()) + ' ';
  text.resize(size);
  return text;
}

TEST(Http2Flow, AWindowOfOneByteDeliversTheWholeReply) {
  Loopback loop{echo, {}, {.initial_window_bytes = 1}};
  const std::string body = text_of_size(300);
  const std::int32_t first = loop.client.post("penstock", "/rls", {}, body);
  const std::int32_t second = loop.client.post("penstock", "/rls", {}, body);
  const auto answers = loop.answers();
  for (const std::int32_t stream : {first, second}) {
    EXPECT_EQ(answers.at(stream).body, body);
    EXPECT_THAT(answers.at(stream).headers, Contains(Pair("grpc-status", "0")));
  }
  EXPECT_EQ(loop.server.open_streams(), 0U);
}

TEST(Http2Flow, ALargeBodyGoesBothWaysInAnyPieces) {
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{65'536}, SIZE_MAX}) {
    SCOPED_TRACE(piece);
    Loopback loop{echo};
    const std::string body = text_of_size(4 * 1024 * 1024);
    const std::int32_t stream = loop.client.post("penstock", "/rls", {}, body);
    const auto answers = loop.answers(piece);
    ASSERT_TRUE(answers.contains(stream));
    EXPECT_EQ(answers.at(stream).body, body);
    EXPECT_THAT(answers.at(stream).headers, Contains(Pair("grpc-status", "0")));
  }
}

TEST(Http2Flow, APeerThatDoesNotReadIsNotReadEither) {
  constexpr std::size_t kMaxUnsent = 100'000;
  Loopback loop{echo, {.max_unsent_bytes = kMaxUnsent}, {.initial_window_bytes = 16 * 1024 * 1024}};
  loop.run();
  const std::string body = text_of_size(30'000);
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 20; ++i) streams.push_back(loop.client.post("penstock", "/rls", {}, body));
  while (loop.client_to_server()) {
  }
  EXPECT_FALSE(loop.server.wants_input());
  constexpr std::size_t kFrame = 16'384 + 9;
  EXPECT_LE(loop.server.output().size(), kMaxUnsent + kFrame);

  const auto answers = loop.answers();
  EXPECT_TRUE(loop.server.wants_input());
  for (const std::int32_t stream : streams) {
    ASSERT_TRUE(answers.contains(stream));
    EXPECT_EQ(answers.at(stream).body, body);
    EXPECT_THAT(answers.at(stream).headers, Contains(Pair("grpc-status", "0")));
  }
}

TEST(Http2Flow, ASlowReaderGetsTheSameBytesInTheEnd) {
  Loopback loop{echo, {.max_unsent_bytes = 5000}};
  std::vector<std::int32_t> streams;
  const std::string body = text_of_size(700);
  for (int i = 0; i < 50; ++i) streams.push_back(loop.client.post("penstock", "/rls", {}, body));
  std::map<std::int32_t, ClientResponse> answers;
  for (bool moved = true; moved;) {
    moved = loop.server_to_client(100);
    if (loop.server.wants_input()) moved = loop.client_to_server(2000) || moved;
    while (auto answer = loop.client.next_response()) answers.emplace(answer->stream, *answer);
  }
  ASSERT_EQ(answers.size(), streams.size());
  for (const std::int32_t stream : streams) EXPECT_EQ(answers.at(stream).body, body);
}

TEST(Http2Flow, HandsAStreamOnAsItComes) {
  std::vector<std::string> seen;
  bool complete = false;
  Loopback loop{[&](Http2Server& server, const Request& request) {
                  if (seen.empty()) server.begin_stream(request.stream, {});
                  seen.emplace_back(request.body);
                  server.consume(request.stream, request.body.size());
                  complete = request.complete;
                },
                {.streaming_paths = kStreaming}};
  const std::int32_t stream = loop.client.post("penstock", "/watch", {}, "", false);
  loop.run();
  EXPECT_THAT(seen, ElementsAre("")) << "at its headers";
  loop.client.send_data(stream, "one", false);
  loop.run();
  loop.client.send_data(stream, "two", false);
  loop.run();
  EXPECT_THAT(seen, ElementsAre("", "one", "two"));
  EXPECT_FALSE(complete);
  loop.client.send_data(stream, "", true);
  loop.run();
  EXPECT_TRUE(complete);
}

TEST(Http2Flow, ShowsAgainWhatWasNotConsumed) {
  std::vector<std::string> seen;
  Loopback loop{[&](Http2Server& server, const Request& request) {
                  seen.emplace_back(request.body);
                  server.consume(request.stream, 2);
                },
                {.streaming_paths = kStreaming}};
  const std::int32_t stream = loop.client.post("penstock", "/watch", {}, "abcde", false);
  loop.run();
  loop.client.send_data(stream, "fg", false);
  loop.run();
  loop.client.send_data(stream, "", true);
  loop.run();
  EXPECT_THAT(seen, ElementsAre("abcde", "cdefg", "efg"));
}

TEST(Http2Flow, StreamsAnAnswer) {
  std::int32_t stream = 0;
  Loopback loop{[&](Http2Server& server, const Request& request) {
                  stream = request.stream;
                  if (!request.complete) server.begin_stream(request.stream, {});
                },
                {.streaming_paths = kStreaming}};
  loop.client.post("penstock", "/watch", {}, "", false);
  loop.run();
  for (const std::string_view part : {"one ", "two ", "three"}) {
    loop.server.send_data(stream, part);
    loop.run();
  }
  EXPECT_EQ(loop.client.partial_body(stream), "one two three");
  EXPECT_EQ(loop.client.next_response(), std::nullopt);
  loop.server.end_stream(stream, kOk);
  const auto answers = loop.answers();
  ASSERT_TRUE(answers.contains(stream));
  EXPECT_FALSE(answers.at(stream).reset);
  EXPECT_EQ(answers.at(stream).body, "one two three");
  EXPECT_THAT(answers.at(stream).headers, ElementsAre(Pair("grpc-status", "0")));
  EXPECT_EQ(loop.server.open_streams(), 0U);
}

TEST(Http2Flow, StreamsAnAnswerThroughAWindowOfOneByte) {
  for (const bool trailers : {true, false}) {
    SCOPED_TRACE(trailers);
    Loopback loop{[&](Http2Server& server, const Request& request) {
                    server.begin_stream(request.stream, {});
                    server.send_data(request.stream, "one ");
                    server.send_data(request.stream, "two ");
                    server.send_data(request.stream, "three");
                    server.end_stream(request.stream,
                                      trailers ? std::span<const Header>{kOk} : std::span<const Header>{});
                  },
                  {},
                  {.initial_window_bytes = 1}};
    const std::int32_t stream = loop.client.post("penstock", "/rls", {}, "");
    const auto answers = loop.answers();
    ASSERT_TRUE(answers.contains(stream));
    EXPECT_EQ(answers.at(stream).body, "one two three");
    EXPECT_EQ(answers.at(stream).headers.size(), trailers ? 1U : 0U);
    EXPECT_EQ(loop.server.open_streams(), 0U);
  }
}

TEST(Http2Flow, SendsNoEmptyDataButWhereItEndsTheStream) {
  Http2Server server{{.streaming_paths = kStreaming}};
  ASSERT_TRUE(server.receive(client_preface() + frame(1, 5, 1, "\x83\x86\x44\x04/rls\x41\x01p"), kNow));
  server.begin_stream(1, {});
  server.send_data(1, "");
  server.send_data(1, "x");
  server.end_stream(1, kOk);
  int data = 0;
  for (const auto& sent : frames_of(server.output())) {
    if (sent.type != 0) continue;
    ++data;
    EXPECT_FALSE(sent.payload.empty());
  }
  EXPECT_EQ(data, 1);
}

TEST(Http2Flow, ResetsAStreamWhosePeerDoesNotTakeItsData) {
  Loopback loop{[&](Http2Server& server, const Request& request) { server.begin_stream(request.stream, {}); },
                {.max_unsent_bytes = 10'000},
                {.initial_window_bytes = 0}};
  const std::int32_t stuck = loop.client.post("penstock", "/rls", {}, "");
  loop.run();
  const std::string part(4000, 'x');
  for (int i = 0; i < 5; ++i) loop.server.send_data(stuck, part);
  const std::int32_t other = loop.client.post("penstock", "/rls", {}, "");
  const auto answers = loop.answers();
  EXPECT_TRUE(answers.at(stuck).reset);
  EXPECT_THAT(loop.resets, ElementsAre(stuck));
  EXPECT_FALSE(answers.contains(other)) << "the connection lives";
  EXPECT_EQ(loop.server.open_streams(), 1U);
}

TEST(Http2Flow, AStreamThatThePeerResetsIsListedUntilItsAnswerHasEnded) {
  std::int32_t stream = 0;
  Loopback loop{[&](Http2Server& server, const Request& request) {
                  stream = request.stream;
                  server.begin_stream(request.stream, {});
                },
                {.streaming_paths = kStreaming}};
  loop.client.post("penstock", "/watch", {}, "", false);
  loop.run();
  loop.client.reset(stream, NGHTTP2_CANCEL);
  loop.run();
  EXPECT_THAT(loop.resets, ElementsAre(stream));
  loop.server.send_data(stream, "late");
  loop.server.end_stream(stream, kOk);
  EXPECT_EQ(loop.server.output(), "");
}

}  // namespace
}  // namespace penstock::transport
