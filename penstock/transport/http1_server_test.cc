#include "penstock/transport/http1_server.h"

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

std::string get(std::string_view path, std::string_view headers = "") {
  return "GET " + std::string{path} + " HTTP/1.1\r\nHost: penstock\r\n" + std::string{headers} + "\r\n";
}

std::string post(std::string_view path, std::string_view body) {
  return "POST " + std::string{path} + " HTTP/1.1\r\nHost: penstock\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string{body};
}

std::string written_by(Http1Server& server) {
  std::string bytes{server.output()};
  server.written(bytes.size());
  return bytes;
}

std::string reply(std::string_view body, std::string_view headers = "") {
  return "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(body.size()) + "\r\n" + std::string{headers} + "\r\n" +
         std::string{body};
}

// Feeds `bytes` at most `piece` at a time, answers each request with its method, path and body, and gives all output.
std::string echo(Http1Server& server, std::string_view bytes, std::size_t piece = SIZE_MAX) {
  std::string output;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    static_cast<void>(server.receive(part, kNow));
    for (const Request& request : server.requests()) {
      const std::string body =
          std::string{request.method} + " " + std::string{request.path} + " " + std::string{request.body};
      server.respond(request.stream, {.body = body});
    }
    output += written_by(server);
  }
  return output;
}

TEST(Http1Server, ShowsWhatARateLimiterLooksAt) {
  Http1Server server{Http1Options{}};
  ASSERT_TRUE(
      server.receive("POST /json?x=1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                     "Content-Length: 2\r\n\r\n{}",
                     kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  const Request& request = server.requests()[0];
  EXPECT_EQ(request.stream, 1);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/json?x=1");
  EXPECT_EQ(request.content_type, "application/json");
  EXPECT_EQ(request.body, "{}");
  EXPECT_EQ(request.age, Nanoseconds{0});
  EXPECT_TRUE(request.complete);
}

TEST(Http1Server, WritesAReplyWithItsLength) {
  static constexpr std::array kHeaders{Header{.name = "content-type", .value = "application/json"}};
  Http1Server server{Http1Options{}};
  ASSERT_TRUE(server.receive(get("/json"), kNow));
  server.respond(1, {.status = 429, .headers = kHeaders, .body = "{}", .trailers = {}});
  EXPECT_EQ(server.output(),
            "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
}

TEST(Http1Server, ReadsTheSameInWhateverPiecesItComes) {
  const std::string bytes = get("/a") + post("/b", "body") + "\r\n" +
                            "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "3;note=x\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\ntrailer: x\r\n\r\n"
                            "POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
                            get("/e");
  const std::string expected = reply("GET /a ") + reply("POST /b body") + reply("POST /c abc0123456789abcdef") +
                               reply("POST /d ") + reply("GET /e ");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, SIZE_MAX}) {
    SCOPED_TRACE(piece);
    Http1Server server{Http1Options{}};
    EXPECT_EQ(echo(server, bytes, piece), expected);
    EXPECT_FALSE(server.finished());
  }
}

TEST(Http1Server, HoldsARepliesTurnWhenTheyAreGivenInAnyOrder) {
  Http1Server server{Http1Options{}};
  ASSERT_TRUE(server.receive(get("/1") + get("/2") + get("/3"), kNow));
  EXPECT_EQ(server.open_streams(), 3U);
  server.respond(3, {.body = "three"});
  server.respond(2, {.body = "two"});
  EXPECT_EQ(server.output(), "");
  server.respond(1, {.body = "one"});
  EXPECT_EQ(server.output(), reply("one") + reply("two") + reply("three"));
  EXPECT_EQ(server.open_streams(), 0U);
}

TEST(Http1Server, IgnoresAReplyToARequestThatIsNotOpen) {
  Http1Server server{Http1Options{}};
  server.respond(1, {.body = "early"});
  ASSERT_TRUE(server.receive(get("/1") + get("/2"), kNow));
  server.respond(2, {.body = "two"});
  server.respond(2, {.body = "twice"});
  server.respond(1, {.body = "one"});
  server.respond(1, {.body = "late"});
  EXPECT_EQ(server.output(), reply("one") + reply("two"));
}

TEST(Http1Server, PausesWhileTooManyRequestsWait) {
  Http1Server server{Http1Options{}};
  std::string bytes;
  for (std::size_t i = 0; i < Http1Server::kMaxPipelined + 10; ++i) bytes += get("/");
  ASSERT_TRUE(server.receive(bytes, kNow));
  EXPECT_EQ(server.requests().size(), Http1Server::kMaxPipelined);
  EXPECT_FALSE(server.wants_input());
  EXPECT_TRUE(server.paused());
  server.respond(1, {});
  EXPECT_TRUE(server.wants_input());
  ASSERT_TRUE(server.receive("", kNow));
  EXPECT_EQ(server.requests().size(), 1U);
  for (std::int32_t stream = 2; stream <= 65; ++stream) server.respond(stream, {});
  ASSERT_TRUE(server.receive("", kNow));
  EXPECT_EQ(server.requests().size(), 9U);
  EXPECT_FALSE(server.paused());
}

TEST(Http1Server, PausesWhileTheBodiesOfWaitingRequestsPassTheMaximum) {
  Http1Server server{{.max_body_bytes = 100}};
  const std::string request = post("/", std::string(60, 'x'));
  ASSERT_TRUE(server.receive(request + request + request, kNow));
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_TRUE(server.paused());
  server.respond(1, {});
  ASSERT_TRUE(server.receive("", kNow));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(Http1Server, APeerThatDoesNotReadIsNotReadEither) {
  Http1Server server{{.max_unsent_bytes = 1000}};
  ASSERT_TRUE(server.receive(get("/"), kNow));
  const std::string large(2000, 'x');
  server.respond(1, {.body = large});
  EXPECT_FALSE(server.wants_input());
  ASSERT_TRUE(server.receive(get("/"), kNow));
  EXPECT_TRUE(server.requests().empty());
  static_cast<void>(written_by(server));
  EXPECT_TRUE(server.wants_input());
  ASSERT_TRUE(server.receive("", kNow));
  EXPECT_EQ(server.requests().size(), 1U);
}

struct Closing {
  const char* request;
  const char* expected_header;  // of the reply
  bool closes;
};

TEST(Http1Server, KeepsOrClosesTheConnectionAsAsked) {
  const Closing cases[] = {
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", false},
      {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "connection: close\r\n", true},
      {"GET / HTTP/1.1\r\nHost: x\r\nConnection: TE, Close\r\n\r\n", "connection: close\r\n", true},
      {"GET / HTTP/1.0\r\n\r\n", "connection: close\r\n", true},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "connection: keep-alive\r\n", false},
  };
  for (const Closing& each : cases) {
    SCOPED_TRACE(each.request);
    Http1Server server{Http1Options{}};
    // What follows a request that closes is no request of this connection.
    ASSERT_TRUE(server.receive(std::string{each.request} + get("/next"), kNow));
    ASSERT_EQ(server.requests().size(), each.closes ? 1U : 2U);
    server.respond(1, {.body = "x"});
    EXPECT_EQ(written_by(server), reply("x", each.expected_header));
    EXPECT_EQ(server.finished(), each.closes);
    EXPECT_EQ(server.wants_input(), !each.closes);
  }
}

TEST(Http1Server, AnswersHeadWithoutABody) {
  Http1Server server{Http1Options{}};
  ASSERT_TRUE(server.receive("HEAD /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n", kNow));
  server.respond(1, {.body = "OK"});
  EXPECT_EQ(server.output(), "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n");
}

TEST(Http1Server, AsksForABodyThatWaitsToBeAsked) {
  Http1Server server{Http1Options{}};
  const std::string headers = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  ASSERT_TRUE(server.receive(headers, kNow));
  EXPECT_EQ(written_by(server), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(server.receive("o", kNow));
  EXPECT_EQ(written_by(server), "") << "once";
  ASSERT_TRUE(server.receive("k", kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].body, "ok");
  server.respond(1, {});

  static_cast<void>(written_by(server));
  ASSERT_TRUE(server.receive(headers + "ok", kNow));
  EXPECT_EQ(written_by(server), "") << "the body came by itself";
}

TEST(Http1Server, AsksForABodyOnlyWhenTheRepliesBeforeAreOut) {
  Http1Server server{Http1Options{}};
  ASSERT_TRUE(server.receive(
      get("/first") + "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", kNow));
  EXPECT_EQ(written_by(server), "");
  server.respond(1, {.body = "x"});
  EXPECT_EQ(written_by(server), reply("x") + "HTTP/1.1 100 Continue\r\n\r\n");
}

struct Refused {
  const char* what;
  std::string bytes;
  const char* status;
};

TEST(Http1Server, AnswersWhatItCannotTakeAndCloses) {
  const Http1Options options{.max_body_bytes = 100, .max_header_bytes = 500};
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Refused cases[] = {
      {"garbage", "\x16\x03\x01 hello\r\n\r\n", "400 Bad Request"},
      {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 Bad Request"},
      {"a newer version", "GET / HTTP/3.7\r\nHost: x\r\n\r\n", "400 Bad Request"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", "400 Bad Request"},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400 Bad Request"},
      {"a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400 Bad Request"},
      {"two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
       "400 Bad Request"},
      {"a negative length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "400 Bad Request"},
      {"a length and chunks", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
       "400 Bad Request"},
      {"an unknown coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "400 Bad Request"},
      {"chunks of HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400 Bad Request"},
      {"a chunk without a size", chunked + "xyz\r\nabc\r\n", "400 Bad Request"},
      {"a chunk longer than it says", chunked + "2\r\nabc\r\n0\r\n\r\n", "400 Bad Request"},
      {"a chunk header without an end", chunked + std::string(1000, '1'), "400 Bad Request"},
      {"a body too large", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n", "413 Payload Too Large"},
      {"chunks too large", chunked + "64\r\n" + std::string(100, 'x') + "\r\n1\r\nx\r\n", "413 Payload Too Large"},
      {"a path too long", "GET /" + std::string(600, 'x'), "431 Request Header Fields Too Large"},
      {"a header too long", get("/", "X: " + std::string(600, 'x') + "\r\n"), "431 Request Header Fields Too Large"},
  };
  for (const Refused& each : cases) {
    for (const std::size_t piece : {SIZE_MAX, std::size_t{1}}) {
      SCOPED_TRACE(each.what);
      SCOPED_TRACE(piece);
      Http1Server server{options};
      const std::string output = echo(server, get("/before") + each.bytes, piece);
      EXPECT_THAT(output, StartsWith(reply("GET /before ")));
      EXPECT_THAT(output, HasSubstr(std::string{"HTTP/1.1 "} + each.status + "\r\n"));
      EXPECT_THAT(output, HasSubstr("content-type: text/plain; charset=utf-8\r\n"));
      EXPECT_THAT(output, HasSubstr("connection: close\r\n"));
      EXPECT_THAT(output, EndsWith(std::string{each.status}.substr(4) + "\n"));
      EXPECT_TRUE(server.finished());
      EXPECT_FALSE(server.receive(get("/"), kNow));
      EXPECT_TRUE(server.requests().empty());
    }
  }
}

TEST(Http1Server, CountsHeadersThatComeOneByOneTogether) {
  std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 100; ++i) bytes += "x-" + std::to_string(i) + ": 12345\r\n";
  Http1Server server{{.max_header_bytes = 500}};
  EXPECT_THAT(echo(server, bytes, 13), HasSubstr("431"));
}

TEST(Http1Server, KeepsTheTurnOfARefusal) {
  Http1Server server{Http1Options{}};
  EXPECT_FALSE(server.receive(get("/first") + "garbage\r\n\r\n", kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.output(), "");
  EXPECT_FALSE(server.finished());
  server.respond(1, {.body = "x"});
  EXPECT_THAT(written_by(server), StartsWith(reply("x") + "HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(server.finished());
}

TEST(Http1Server, ReplacesLineBreaksInAValue) {
  const std::string value{"a\r\nset-cookie: x\0y", 18};
  const std::array headers{Header{.name = "x-limit", .value = value}};
  Http1Server server{Http1Options{}};
  ASSERT_TRUE(server.receive(get("/"), kNow));
  server.respond(1, {.status = 200, .headers = headers, .body = {}, .trailers = {}});
  EXPECT_THAT(std::string{server.output()}, HasSubstr("\r\nx-limit: a  set-cookie: x y\r\n"));
}

TEST(Http1Server, EndsAtOnceWhereNothingIsOpen) {
  Http1Server server{Http1Options{}};
  server.shut_down();
  EXPECT_TRUE(server.finished());
  EXPECT_FALSE(server.wants_input());
}

TEST(Http1Server, EndsWithTheReplyToTheLastRequest) {
  Http1Server server{Http1Options{}};
  ASSERT_TRUE(server.receive(get("/1") + get("/2"), kNow));
  server.shut_down();
  server.respond(1, {.body = "one"});
  EXPECT_FALSE(server.finished());
  server.respond(2, {.body = "two"});
  EXPECT_EQ(written_by(server), reply("one") + reply("two", "connection: close\r\n"));
  EXPECT_TRUE(server.finished());
}

TEST(Http1Server, EndsWithTheRequestThatIsBeingRead) {
  Http1Server server{Http1Options{}};
  ASSERT_TRUE(server.receive("GET / HT", kNow));
  server.shut_down();
  EXPECT_FALSE(server.finished());
  ASSERT_TRUE(server.receive("TP/1.1\r\nHost: x\r\n\r\n", kNow));
  ASSERT_EQ(server.requests().size(), 1U);
  server.respond(1, {.body = "x"});
  EXPECT_EQ(written_by(server), reply("x", "connection: close\r\n"));
  EXPECT_TRUE(server.finished());
}

TEST(Http1Server, AnAnnouncedEndComesWithTheNextReplyAndNotBefore) {
  Http1Server server{Http1Options{}};
  server.announce_end();
  EXPECT_FALSE(server.finished()) << "an idle peer may have a request under way";
  static_cast<void>(
      server.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /late HTTP/1.1\r\nHost: x\r\n\r\n", kStateEpoch));
  ASSERT_EQ(server.requests().size(), 1U) << "what follows the last answer is not taken";
  server.respond(server.requests()[0].stream, {.status = 200, .body = "OK"});
  EXPECT_NE(server.output().find("connection: close\r\n"), std::string_view::npos);
  server.written(server.output().size());
  EXPECT_TRUE(server.finished());
}

}  // namespace
}  // namespace penstock::transport
