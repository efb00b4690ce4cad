#include "penstock/transport/http2_server.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using testing::client_preface;
using testing::echo;
using ::testing::ElementsAre;
using testing::frame;
using testing::frames_of;
using testing::kNow;
using testing::Loopback;
using ::testing::Pair;
using testing::SeenFrame;

constexpr std::string_view kPath = "/rls";
constexpr std::uint8_t kHeaders = 1;
constexpr std::uint8_t kReset = 3;
constexpr std::uint8_t kGoaway = 7;

std::int32_t post(Loopback& loop, std::string_view body, std::span<const Header> headers = {}) {
  return loop.client.post("penstock", kPath, headers, body);
}

std::size_t count(const std::vector<SeenFrame>& frames, std::uint8_t type) {
  return static_cast<std::size_t>(
      std::ranges::count_if(frames, [&](const SeenFrame& frame) { return frame.type == type; }));
}

std::string written_by(Http2Server& server) {
  std::string bytes{server.output()};
  server.written(bytes.size());
  return bytes;
}

// The least block for a POST: :method, :scheme and :path from the static table or as literals, and :authority.
std::string post_block() { return "\x83\x86\x44\x04/rls\x41\x01p"; }

TEST(Http2Server, ShowsWhatARateLimiterLooksAt) {
  const std::array headers{
      Header{.name = "te", .value = "trailers"}, Header{.name = "content-type", .value = "application/grpc"},
      Header{.name = "grpc-timeout", .value = "20m"}, Header{.name = "grpc-encoding", .value = "gzip"},
      Header{.name = "x-forwarded-for", .value = "::1"}};
  int seen = 0;
  Loopback loop{[&](Http2Server& server, const Request& request) {
    ++seen;
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/rls");
    EXPECT_EQ(request.content_type, "application/grpc");
    EXPECT_EQ(request.grpc_timeout, "20m");
    EXPECT_EQ(request.grpc_encoding, "gzip");
    EXPECT_EQ(request.body, "hello");
    EXPECT_EQ(request.age, Nanoseconds{0});
    EXPECT_TRUE(request.complete);
    EXPECT_FALSE(request.oversize);
    echo(server, request);
  }};
  const std::int32_t stream = post(loop, "hello", headers);
  const auto answers = loop.answers();
  EXPECT_EQ(seen, 1);
  ASSERT_TRUE(answers.contains(stream));
  const ClientResponse& answer = answers.at(stream);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_THAT(answer.headers, ElementsAre(Pair("content-type", "application/grpc"), Pair("grpc-status", "0")));
  EXPECT_EQ(loop.server.open_streams(), 0U);
}

TEST(Http2Server, AnswersWithOneHeaderFrameWhereThereIsNoMessage) {
  static constexpr std::array kStatus{Header{.name = "grpc-status", .value = "12"}};
  Http2Server server{Http2Options{}};
  ASSERT_TRUE(server.receive(client_preface() + frame(kHeaders, 5, 1, post_block()), kNow));
  static_cast<void>(written_by(server));
  ASSERT_EQ(server.requests().size(), 1U);
  server.respond(1, {.status = 200, .headers = kStatus, .body = {}, .trailers = {}});
  const std::vector<SeenFrame> frames = frames_of(written_by(server));
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, kHeaders);
  EXPECT_EQ(frames[0].flags, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS);
}

TEST(Http2Server, EveryShapeOfReplyArrivesAsGiven) {
  static constexpr std::array kHeader{Header{.name = "a", .value = "1"}};
  static constexpr std::array kTrailer{Header{.name = "b", .value = "2"}};
  for (const std::string_view body : {"", "text"}) {
    for (const bool headers : {false, true}) {
      for (const bool trailers : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "body '" << body << "' headers " << headers << " trailers " << trailers);
        Response response{.status = 503, .headers = {}, .body = body, .trailers = {}};
        if (headers) response.headers = kHeader;
        if (trailers) response.trailers = kTrailer;
        Loopback loop{[&](Http2Server& server, const Request& request) { server.respond(request.stream, response); }};
        const std::int32_t stream = post(loop, "x");
        const auto answers = loop.answers();
        ASSERT_TRUE(answers.contains(stream));
        EXPECT_FALSE(answers.at(stream).reset);
        EXPECT_EQ(answers.at(stream).status, 503);
        EXPECT_EQ(answers.at(stream).body, body);
        std::vector<std::pair<std::string, std::string>> fields;
        if (headers) fields.emplace_back("a", "1");
        if (trailers) fields.emplace_back("b", "2");
        EXPECT_EQ(answers.at(stream).headers, fields);
        EXPECT_EQ(loop.server.open_streams(), 0U);
      }
    }
  }
}

TEST(Http2Server, AnswersThousandsOfOpenStreamsInAnyOrder) {
  std::vector<std::pair<std::int32_t, std::string>> waiting;
  Loopback loop{[&](Http2Server&, const Request& request) { waiting.emplace_back(request.stream, request.body); }};
  loop.run();  // the client learns that more than its default of 100 streams may be open
  for (int i = 0; i < 4000; ++i) post(loop, std::to_string(i));
  loop.run();
  ASSERT_EQ(waiting.size(), 4000U);
  EXPECT_EQ(loop.server.open_streams(), 4000U);
  std::ranges::reverse(waiting);
  for (const auto& [stream, body] : waiting) loop.server.respond(stream, {.body = body});
  const auto answers = loop.answers();
  ASSERT_EQ(answers.size(), 4000U);
  for (const auto& [stream, body] : waiting) EXPECT_EQ(answers.at(stream).body, body);
}

TEST(Http2Server, RefusesStreamsBeyondWhatItAnnounced) {
  Loopback loop{[](Http2Server&, const Request&) {}, {.max_concurrent_streams = 2}};
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(post(loop, "x"));
  // All three are sent before the client has read the limit.
  const auto answers = loop.answers();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers.at(streams[2]).reset);
  EXPECT_EQ(loop.server.open_streams(), 2U);
  EXPECT_TRUE(loop.server_reads);
}

TEST(Http2Server, ListsAResetAndDropsTheReplyToIt) {
  std::vector<std::int32_t> waiting;
  Loopback loop{[&](Http2Server&, const Request& request) { waiting.push_back(request.stream); }};
  const std::int32_t gone = post(loop, "a");
  const std::int32_t kept = post(loop, "b");
  loop.run();
  loop.client.reset(gone, NGHTTP2_INTERNAL_ERROR);
  loop.run();
  EXPECT_THAT(loop.resets, ElementsAre(gone));
  EXPECT_EQ(loop.server.open_streams(), 1U);
  for (const std::int32_t stream : waiting) loop.server.respond(stream, {.body = "late"});
  const auto answers = loop.answers();
  EXPECT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers.at(kept).body, "late");
}

TEST(Http2Server, ShowsARequestThatWasResetInTheSameRead) {
  Http2Server server{Http2Options{}};
  ASSERT_TRUE(server.receive(client_preface() + frame(kHeaders, 5, 1, post_block()) +
                                 frame(kReset, 0, 1, {"\0\0\0\x08", 4}) + frame(kHeaders, 5, 3, post_block()),
                             kNow));
  ASSERT_EQ(server.requests().size(), 2U) << "it is charged all the same";
  EXPECT_EQ(server.requests()[0].path, "/rls");
  EXPECT_EQ(server.requests()[1].path, "/rls");
  EXPECT_THAT(server.resets(), ElementsAre(1));
  static_cast<void>(written_by(server));
  server.respond(1, {.body = "x"});
  EXPECT_EQ(server.output(), "");
  ASSERT_TRUE(server.receive("", kNow));
  EXPECT_TRUE(server.resets().empty()) << "a reset is listed once";
}

TEST(Http2Server, AnswersHeadersPastTheMaximumBy431) {
  int served = 0;
  Loopback loop{[&](Http2Server& server, const Request& request) {
                  ++served;
                  echo(server, request);
                },
                {.max_header_bytes = 1000}};
  const std::string large(1000, 'x');
  const std::array headers{Header{.name = "x", .value = large}};
  const std::int32_t refused = post(loop, "body", headers);
  const std::int32_t fine = post(loop, "body");
  const auto answers = loop.answers();
  EXPECT_EQ(answers.at(refused).status, 431);
  EXPECT_EQ(answers.at(fine).status, 200);
  EXPECT_EQ(served, 1);
}

TEST(Http2Server, SaysAtOnceThatABodyPassesTheMaximumAndDropsTheRest) {
  std::vector<bool> complete;
  Loopback loop{[&](Http2Server& server, const Request& request) {
                  EXPECT_TRUE(request.oversize);
                  EXPECT_TRUE(request.body.empty());
                  complete.push_back(request.complete);
                  server.respond(request.stream, {.status = 413});
                },
                {.max_body_bytes = 1000}};
  const std::string half(800, 'x');
  const std::int32_t stream = loop.client.post("penstock", kPath, {}, half, false);
  loop.run();
  EXPECT_TRUE(complete.empty());
  loop.client.send_data(stream, half, false);
  const auto answers = loop.answers();
  EXPECT_THAT(complete, ElementsAre(false));
  EXPECT_EQ(answers.at(stream).status, 413);
}

TEST(Http2Server, ABodyOfExactlyTheMaximumIsTaken) {
  Loopback loop{echo, {.max_body_bytes = 1000}};
  const std::string body(1000, 'x');
  const std::int32_t stream = post(loop, body);
  EXPECT_EQ(loop.answers().at(stream).body, body);
}

TEST(Http2Server, HoldsNoMoreThanItsMaximumForAllRequestsTogether) {
  std::size_t oversize = 0;
  Loopback loop{[&](Http2Server&, const Request& request) { oversize += request.oversize ? 1 : 0; },
                {.max_held_bytes = 20'000}};
  const std::string body(1000, 'x');
  std::vector<std::int32_t> streams;
  for (int i = 0; i < 12; ++i) streams.push_back(post(loop, body));
  loop.run();
  EXPECT_EQ(oversize, 2U) << "ten fit beside what twelve open streams cost";
  for (const std::int32_t stream : streams) loop.server.respond(stream, {});
  const std::size_t before = oversize;
  post(loop, body);
  loop.run();
  EXPECT_EQ(oversize, before) << "what was answered holds nothing";
}

TEST(Http2Server, PassesOverTheTrailersOfARequest) {
  Http2Server server{Http2Options{}};
  const std::string trailer = std::string{
      "\x00\x01"
      "a"
      "\x01"
      "b",
      5};
  ASSERT_TRUE(server.receive(
      client_preface() + frame(kHeaders, 4, 1, post_block()) + frame(0, 0, 1, "data") + frame(kHeaders, 5, 1, trailer),
      kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].body, "data");
  EXPECT_TRUE(server.requests()[0].complete);
}

TEST(Http2Server, AnswersGarbageByGoaway) {
  Http2Server server{Http2Options{}};
  EXPECT_FALSE(server.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n", kNow));
  EXPECT_FALSE(server.wants_input());
  EXPECT_FALSE(server.finished()) << "the GOAWAY is not written yet";
  const std::vector<SeenFrame> frames = frames_of(written_by(server));
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().type, kGoaway);
  EXPECT_EQ(frames.back().payload.substr(4, 4), std::string_view("\0\0\0\x01", 4)) << "PROTOCOL_ERROR";
  EXPECT_TRUE(server.finished());
  EXPECT_FALSE(server.receive("more", kNow));
}

struct Breach {
  const char* what;
  std::string bytes;
};

std::string repeated(std::string_view bytes, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += bytes;
  return all;
}

TEST(Http2Server, EndsAConnectionThatBreaksTheProtocol) {
  const Breach breaches[] = {
      {"DATA on stream 0", frame(0, 0, 0, "x")},
      {"an even stream", frame(kHeaders, 5, 2, post_block())},
      {"a header block that is none", frame(kHeaders, 5, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")},
      {"a frame larger than announced", frame(0, 0, 1, std::string(20'000, 'x'))},
      {"a window update of 0", frame(8, 0, 0, {"\0\0\0\0", 4})},
      {"a priority of stream 0", frame(2, 0, 0, {"\0\0\0\1\020", 5})},
      {"SETTINGS of a wrong size", frame(4, 0, 0, "abc")},
      {"headers without an end", frame(kHeaders, 1, 1, post_block()) + repeated(frame(9, 0, 1, ""), 20)},
      {"more PINGs than are answered", repeated(frame(6, 0, 0, "12345678"), 2000)},
  };
  for (const Breach& breach : breaches) {
    SCOPED_TRACE(breach.what);
    Http2Server server{Http2Options{}};
    EXPECT_FALSE(server.receive(client_preface() + breach.bytes, kNow));
    EXPECT_EQ(count(frames_of(written_by(server)), kGoaway), 1U);
    EXPECT_TRUE(server.finished());
  }
}

TEST(Http2Server, ResetsOnlyTheStreamOfAMalformedRequest) {
  const Breach breaches[] = {
      {"no :path", "\x83\x86\x41\x01p"},
      {"an upper-case name", post_block() + std::string{"\x00\x01"
                                                        "A"
                                                        "\x01"
                                                        "b",
                                                        5}},
      {"a connection header", post_block() + std::string{"\x00\x0a"
                                                         "connection"
                                                         "\x05"
                                                         "close",
                                                         18}},
      {"a pseudo header twice", post_block() + "\x83"},
  };
  for (const Breach& breach : breaches) {
    SCOPED_TRACE(breach.what);
    Http2Server server{Http2Options{}};
    EXPECT_TRUE(server.receive(
        client_preface() + frame(kHeaders, 5, 1, breach.bytes) + frame(kHeaders, 5, 3, post_block()), kNow));
    ASSERT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(server.requests()[0].stream, 3);
    const std::vector<SeenFrame> frames = frames_of(written_by(server));
    EXPECT_EQ(count(frames, kReset), 1U);
    EXPECT_EQ(count(frames, kGoaway), 0U);
  }
}

TEST(Http2Server, EndsGracefully) {
  std::vector<std::int32_t> waiting;
  Loopback loop{[&](Http2Server&, const Request& request) { waiting.push_back(request.stream); }};
  const std::int32_t before = post(loop, "x");
  loop.run();

  loop.server.shut_down();
  std::vector<SeenFrame> frames = frames_of(loop.server.output());
  ASSERT_EQ(count(frames, kGoaway), 1U);
  EXPECT_EQ(frames[0].payload.substr(0, 4), "\x7f\xff\xff\xff") << "refuses nothing yet";

  const std::int32_t on_the_way = post(loop, "y");
  ASSERT_TRUE(loop.client_to_server());
  EXPECT_EQ(waiting.size(), 2U) << "it was sent before the client knew";
  loop.server_to_client();
  loop.client_to_server();  // the answer to the PING
  frames = frames_of(loop.server.output());
  ASSERT_EQ(count(frames, kGoaway), 1U);
  EXPECT_EQ(frames[0].payload.substr(0, 4), std::string_view("\0\0\0\x03", 4)) << "the last that was taken";
  loop.run();
  EXPECT_TRUE(loop.client.goaway_received());
  EXPECT_FALSE(loop.server.finished());

  for (const std::int32_t stream : waiting) loop.server.respond(stream, {.body = "done"});
  const auto answers = loop.answers();
  EXPECT_EQ(answers.at(before).body, "done");
  EXPECT_EQ(answers.at(on_the_way).body, "done");
  EXPECT_TRUE(loop.server.finished());
  EXPECT_FALSE(loop.client_reads) << "the client knows that it is over";
}

TEST(Http2Server, EndsOnTheSecondCallThoughNoPingIsAnswered) {
  Http2Server server{Http2Options{}};
  ASSERT_TRUE(server.receive(client_preface(), kNow));
  server.shut_down();
  static_cast<void>(written_by(server));
  EXPECT_FALSE(server.finished());
  server.shut_down();
  EXPECT_EQ(count(frames_of(written_by(server)), kGoaway), 1U);
  EXPECT_TRUE(server.finished());
  server.shut_down();
  EXPECT_EQ(server.output(), "");
  static_cast<void>(server.receive(frame(kHeaders, 5, 1, post_block()), kNow));
  EXPECT_TRUE(server.requests().empty());
}

}  // namespace
}  // namespace penstock::transport
