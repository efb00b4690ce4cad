// A real Envoy's bytes, as test/captures/README.md describes them.

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "penstock/base/random.h"
#include "penstock/transport/http2_server.h"
#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using testing::echo;
using testing::frames_of;
using testing::kNow;
using testing::SeenFrame;

constexpr std::size_t kRequests = 881;

std::string capture(const std::string& suffix) {
  std::ifstream file{std::string{PENSTOCK_SOURCE_DIR "/test/captures/envoy-1.40-rls."} + suffix, std::ios::binary};
  EXPECT_TRUE(file) << suffix;
  return {std::istreambuf_iterator{file}, {}};
}

std::vector<std::size_t> recorded_chunks() {
  std::ifstream file{PENSTOCK_SOURCE_DIR "/test/captures/envoy-1.40-rls.c2s.chunks"};
  return {std::istream_iterator<std::size_t>{file}, {}};
}

struct Seen {
  std::int32_t stream;
  std::string method, path, content_type, grpc_timeout, body;
  bool complete;

  friend bool operator==(const Seen&, const Seen&) = default;
};

struct Conversation {
  std::vector<Seen> requests;
  std::string output;
};

// Feeds `bytes` cut as `next_size` says, answers everything, and writes all output after each turn.
template <class NextSize>
Conversation feed(std::string_view bytes, NextSize next_size) {
  Conversation said;
  Http2Server server{Http2Options{}};
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), next_size());
    EXPECT_TRUE(server.receive(bytes.substr(0, size), kNow));
    bytes.remove_prefix(size);
    for (const Request& request : server.requests()) {
      said.requests.push_back({request.stream, std::string{request.method}, std::string{request.path},
                               std::string{request.content_type}, std::string{request.grpc_timeout},
                               std::string{request.body}, request.complete});
      echo(server, request);
    }
    said.output += server.output();
    server.written(server.output().size());
  }
  EXPECT_EQ(server.open_streams(), 0U);
  return said;
}

Conversation feed_whole(std::string_view bytes) {
  return feed(bytes, [&] { return bytes.size(); });
}

TEST(EnvoyCapture, HoldsTheRequestsThatWereRecorded) {
  const Conversation said = feed_whole(capture("c2s"));
  ASSERT_EQ(said.requests.size(), kRequests);
  std::int32_t last = -1;
  for (const Seen& request : said.requests) {
    EXPECT_GT(request.stream, last);
    last = request.stream;
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
    EXPECT_EQ(request.content_type, "application/grpc");
    EXPECT_EQ(request.grpc_timeout, "250m");
    EXPECT_GT(request.body.size(), 5U);
    EXPECT_EQ(static_cast<std::size_t>(static_cast<std::uint8_t>(request.body[4])), request.body.size() - 5);
    EXPECT_TRUE(request.complete);
  }
}

constexpr std::uint8_t kData = 0;
constexpr std::uint8_t kHeaders = 1;
constexpr std::uint8_t kReset = 3;
constexpr std::uint8_t kWindowUpdate = 8;

// The frames that carry answers, in the order of the connection.
std::vector<SeenFrame> answers_of(const Conversation& said) {
  std::vector<SeenFrame> frames = frames_of(said.output);
  std::erase_if(frames, [](const SeenFrame& frame) { return frame.type != kData && frame.type != kHeaders; });
  return frames;
}

void expect_same(const Conversation& one, const Conversation& other) {
  EXPECT_EQ(one.requests, other.requests);
  EXPECT_TRUE(answers_of(one) == answers_of(other)) << "the answers differ";
}

TEST(EnvoyCapture, ReadsAndAnswersTheSameInWhateverPiecesItComes) {
  const std::string bytes = capture("c2s");
  const Conversation whole = feed_whole(bytes);
  expect_same(feed(bytes, [] { return std::size_t{1}; }), whole);

  const std::vector<std::size_t> chunks = recorded_chunks();
  std::size_t next = 0;
  expect_same(feed(bytes, [&] { return chunks.at(next++); }), whole);
  EXPECT_EQ(next, chunks.size());

  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    expect_same(feed(bytes, [&] { return 1 + random.below(3000); }), whole);
  }
}

using Fields = std::vector<std::pair<std::string, std::string>>;

// Undoes the header compression of one connection's answers.
class Inflater {
 public:
  Inflater() { EXPECT_EQ(nghttp2_hd_inflate_new(&inflater_), 0); }
  ~Inflater() { nghttp2_hd_inflate_del(inflater_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Fields inflate(std::string_view block) {
    Fields fields;
    const auto text = [](const std::uint8_t* bytes, std::size_t size) {
      return std::string{reinterpret_cast<const char*>(bytes), size};
    };
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field;
      const ssize_t read = nghttp2_hd_inflate_hd2(inflater_, &field, &flags,
                                                  reinterpret_cast<const std::uint8_t*>(block.data()), block.size(), 1);
      if (read < 0) {
        ADD_FAILURE() << nghttp2_strerror(static_cast<int>(read));
        return fields;
      }
      block.remove_prefix(static_cast<std::size_t>(read));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
        fields.emplace_back(text(field.name, field.namelen), text(field.value, field.valuelen));
      }
    }
    nghttp2_hd_inflate_end_headers(inflater_);
    return fields;
  }

 private:
  nghttp2_hd_inflater* inflater_ = nullptr;
};

TEST(EnvoyCapture, EachRequestGetsHeadersDataAndTrailersRightAfterOneAnother) {
  const Conversation said = feed_whole(capture("c2s"));
  const std::vector<SeenFrame> frames = answers_of(said);
  ASSERT_EQ(frames.size(), 3 * kRequests);
  Inflater inflater;
  for (std::size_t at = 0; at < kRequests; ++at) {
    const Seen& request = said.requests[at];
    const SeenFrame& headers = frames[3 * at];
    const SeenFrame& data = frames[3 * at + 1];
    const SeenFrame& trailers = frames[3 * at + 2];
    EXPECT_EQ(inflater.inflate(headers.payload), (Fields{{":status", "200"}, {"content-type", "application/grpc"}}));
    EXPECT_EQ(data.payload, request.body);
    EXPECT_EQ(inflater.inflate(trailers.payload), (Fields{{"grpc-status", "0"}}));
    for (const SeenFrame* frame : {&headers, &data, &trailers}) {
      EXPECT_EQ(static_cast<std::int32_t>(frame->stream), request.stream);
      EXPECT_EQ(frame->flags & NGHTTP2_FLAG_END_STREAM, frame == &trailers ? NGHTTP2_FLAG_END_STREAM : 0);
    }
  }
}

TEST(EnvoyCapture, IsAnsweredWithoutAResetAndWithoutWindowUpdatesButTheFirst) {
  const std::vector<SeenFrame> frames = frames_of(feed_whole(capture("c2s")).output);
  const auto count = [&](std::uint8_t type) {
    return std::ranges::count_if(frames, [&](const SeenFrame& frame) { return frame.type == type; });
  };
  EXPECT_EQ(count(kReset), 0);
  EXPECT_EQ(count(kWindowUpdate), 1);
}

}  // namespace
}  // namespace penstock::transport
