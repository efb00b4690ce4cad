// Header lists that are long, or are short as sent and long as meant.

#include <array>
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
constexpr std::uint8_t kWhole = kEndStream | kEndHeaders;
// Leaves the compression table as it is.
constexpr std::string_view kPost = "\x83\x86\x04\x04/rls\x01\x01p";

// "x: aaa...", 1000 bytes, put into the compression table as its newest entry, which the byte 0xbe then stands for.
std::string large_field() { return std::string{"\x40\x01x\x7f\xe8\x06"} + std::string(999, 'a'); }
std::string references(std::size_t count) { return std::string(count, '\xbe'); }

class Http2Lists : public ::testing::Test {
 protected:
  Http2Lists() {
    EXPECT_TRUE(server_.receive(
        client_preface() + frame(NGHTTP2_HEADERS, kWhole, 1, std::string{kPost} + large_field()), kNow));
    EXPECT_EQ(server_.requests().size(), 1U);
    server_.respond(1, {});
    said();
  }

  std::vector<SeenFrame> said() {
    const std::string output{server_.output()};
    server_.written(output.size());
    return frames_of(output);
  }

  // Whether the connection still answers.
  bool answers(std::uint32_t stream) {
    if (!server_.receive(frame(NGHTTP2_HEADERS, kWhole, stream, std::string{kPost} + references(1)), kNow))
      return false;
    return server_.requests().size() == 1 && !server_.requests()[0].oversize;
  }

  Http2Metrics metrics_;
  Http2Server server_{{.metrics = &metrics_}};
};

TEST_F(Http2Lists, ALittleTooLongAreAnswered431) {
  ASSERT_TRUE(server_.receive(frame(NGHTTP2_HEADERS, kWhole, 3, std::string{kPost} + references(20)), kNow));
  EXPECT_TRUE(server_.requests().empty());
  const std::vector<SeenFrame> frames = said();
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames[0].type, NGHTTP2_HEADERS);
  EXPECT_EQ(metrics_.oversize_headers.value(), 1U);
  EXPECT_TRUE(answers(5));
}

TEST_F(Http2Lists, OfManyReferencesToOneEntryAreNotReadToTheirEnd) {
  ASSERT_TRUE(server_.receive(frame(NGHTTP2_HEADERS, kWhole, 3, std::string{kPost} + references(10'000)), kNow));
  EXPECT_TRUE(server_.requests().empty());
  const std::vector<SeenFrame> frames = said();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, NGHTTP2_RST_STREAM);
  EXPECT_EQ(metrics_.oversize_headers.value(), 1U);
  EXPECT_EQ(server_.open_streams(), 0U);
  EXPECT_TRUE(answers(5)) << "and the table is what both ends think it is";
}

TEST_F(Http2Lists, AtTheEndOfARequestAreBoundedAsWell) {
  ASSERT_TRUE(server_.receive(frame(NGHTTP2_HEADERS, kEndHeaders, 3, kPost) + frame(NGHTTP2_DATA, 0, 3, "body") +
                                  frame(NGHTTP2_HEADERS, kWhole, 3, references(10'000)),
                              kNow));
  EXPECT_TRUE(server_.requests().empty());
  EXPECT_EQ(metrics_.oversize_headers.value(), 1U);
  EXPECT_EQ(server_.open_streams(), 0U);
  EXPECT_TRUE(answers(5));
}

TEST_F(Http2Lists, TooLongTimeAndAgainAreAFlood) {
  Http2Server server{{.floods = {.abort_burst = 10, .aborts_per_second = 1}, .metrics = &metrics_}};
  ASSERT_TRUE(
      server.receive(client_preface() + frame(NGHTTP2_HEADERS, kWhole, 1, std::string{kPost} + large_field()), kNow));
  bool reads = true;
  std::uint32_t stream = 3;
  for (; reads && stream < 100; stream += 2) {
    reads = server.receive(frame(NGHTTP2_HEADERS, kWhole, stream, std::string{kPost} + references(10'000)), kNow);
  }
  EXPECT_FALSE(reads);
  EXPECT_EQ(stream, 3U + 2 * 11);
}

}  // namespace
}  // namespace penstock::transport
