// The last that is taken, and the first that is not.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "penstock/transport/http2_server.h"
#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using testing::client_preface;
using testing::frame;
using testing::frames_of;
using testing::kNow;
using testing::SeenFrame;

constexpr std::uint8_t kEndStream = NGHTTP2_FLAG_END_STREAM, kEndHeaders = NGHTTP2_FLAG_END_HEADERS;
constexpr std::string_view kPost = "\x83\x86\x44\x04/rls\x41\x01p";

// A connection that has been greeted, and what it said to the bytes of one turn.
class Greeted {
 public:
  explicit Greeted(Http2Options options = {}) : server_{with(options, metrics)} {
    EXPECT_TRUE(server_.receive(client_preface() + frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, ""), kNow));
    said();
  }

  bool receive(const std::string& bytes) { return server_.receive(bytes, kNow); }

  std::vector<SeenFrame> said() {
    const std::string output{server_.output()};
    server_.written(output.size());
    return frames_of(output);
  }

  // Of the GOAWAY at the end of what it said; NO_ERROR where there is none.
  std::uint32_t goaway_code() {
    const std::vector<SeenFrame> frames = said();
    if (frames.empty() || frames.back().type != NGHTTP2_GOAWAY) return NGHTTP2_NO_ERROR;
    return static_cast<std::uint8_t>(frames.back().payload.at(7));
  }

  [[nodiscard]] std::size_t requests() const { return server_.requests().size(); }

  Http2Metrics metrics;

 private:
  static Http2Options with(Http2Options options, Http2Metrics& metrics) {
    options.metrics = &metrics;
    return options;
  }

  Http2Server server_;
};

std::string headers_in(std::uint32_t frames_after_the_first) {
  std::string all = frame(NGHTTP2_HEADERS, kEndStream, 1, kPost);
  for (std::uint32_t i = 1; i < frames_after_the_first; ++i) all += frame(NGHTTP2_CONTINUATION, 0, 1, "");
  return all + frame(NGHTTP2_CONTINUATION, kEndHeaders, 1, "");
}

TEST(Http2Edges, EightContinuationsAreTakenAndNineAreNot) {
  Greeted most, more;
  EXPECT_TRUE(most.receive(headers_in(8)));
  EXPECT_EQ(most.requests(), 1U);
  EXPECT_FALSE(more.receive(headers_in(9)));
  EXPECT_EQ(more.goaway_code(), NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_EQ(more.metrics.cut_for_continuations.value(), 1U);
}

std::string settings_of(int count) {
  std::string entries;
  for (int i = 0; i < count; ++i) entries.append("\0\x7f\0\0\0\1", 6);
  return frame(NGHTTP2_SETTINGS, 0, 0, entries);
}

TEST(Http2Edges, ThirtyTwoSettingsInOneFrameAreTakenAndThirtyThreeAreABreach) {
  Greeted most, more;
  EXPECT_TRUE(most.receive(settings_of(32)));
  EXPECT_EQ(most.goaway_code(), NGHTTP2_NO_ERROR);
  EXPECT_FALSE(more.receive(settings_of(33)));
  EXPECT_EQ(more.goaway_code(), NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_EQ(more.metrics.cut_for_breach.value(), 1U);
}

TEST(Http2Edges, AFrameOfSixteenKibibytesIsTakenAndOneOfAByteMoreIsABreach) {
  const std::string headers = frame(NGHTTP2_HEADERS, kEndHeaders, 1, kPost);
  Greeted most, more;
  EXPECT_TRUE(most.receive(headers + frame(NGHTTP2_DATA, kEndStream, 1, std::string(16 * 1024, 'x'))));
  EXPECT_EQ(most.requests(), 1U);
  EXPECT_FALSE(more.receive(headers + frame(NGHTTP2_DATA, kEndStream, 1, std::string(16 * 1024 + 1, 'x'))));
  EXPECT_EQ(more.goaway_code(), NGHTTP2_FRAME_SIZE_ERROR);
  EXPECT_EQ(more.metrics.cut_for_breach.value(), 1U);
}

TEST(Http2Edges, ARequestThatItsPeerGivesUpHalfwayIsCountedAsAborted) {
  Greeted peer;
  EXPECT_TRUE(
      peer.receive(frame(NGHTTP2_HEADERS, kEndHeaders, 1, kPost) + frame(NGHTTP2_RST_STREAM, 0, 1, {"\0\0\0\x08", 4})));
  EXPECT_EQ(peer.metrics.aborted_requests.value(), 1U);
  EXPECT_EQ(peer.metrics.resets_before_answer.value(), 0U);
}

std::string open_streams(std::uint32_t count) {
  std::string all;
  for (std::uint32_t i = 0; i < count; ++i) all += frame(NGHTTP2_HEADERS, kEndHeaders, 2 * i + 1, kPost);
  return all;
}

TEST(Http2Edges, AStreamBeyondTheMostIsRefusedAndItsConnectionGoesOn) {
  Http2Metrics metrics;
  Http2Server server{{.max_concurrent_streams = 3, .metrics = &metrics}};
  ASSERT_TRUE(server.receive(client_preface(), kNow));
  EXPECT_TRUE(server.receive(open_streams(3), kNow));
  EXPECT_EQ(metrics.refused_streams.value(), 0U);
  EXPECT_TRUE(server.receive(frame(NGHTTP2_HEADERS, kEndHeaders, 7, kPost), kNow));
  EXPECT_EQ(metrics.refused_streams.value(), 1U);
  EXPECT_EQ(frames_of(server.output()).back(),
            (SeenFrame{.type = NGHTTP2_RST_STREAM, .flags = 0, .stream = 7, .payload = {"\0\0\0\7", 4}}));
}

TEST(Http2Edges, AStreamBeyondTheMostOfAPeerThatKnowsTheMostIsABreach) {
  Greeted peer{{.max_concurrent_streams = 3}};
  EXPECT_TRUE(peer.receive(open_streams(3)));
  EXPECT_FALSE(peer.receive(frame(NGHTTP2_HEADERS, kEndHeaders, 7, kPost)));
  EXPECT_EQ(peer.metrics.cut_for_breach.value(), 1U);
}

}  // namespace
}  // namespace penstock::transport
