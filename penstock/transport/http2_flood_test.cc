// Peers in trouble keep their connection, peers that flood lose it.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "penstock/transport/http2_server.h"
#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using std::chrono::milliseconds;
using testing::client_preface;
using testing::echo;
using testing::frame;
using testing::frames_of;
using testing::kNow;
using testing::SeenFrame;

constexpr std::uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoaway = 7, kWindow = 8,
                       kContinuation = 9;
constexpr std::uint8_t kEndStream = 1, kEndHeaders = 4;
constexpr std::string_view kCancel{"\0\0\0\x08", 4};
constexpr std::string_view kCalm{"\0\0\0\x0b", 4};

std::string post_block() { return "\x83\x86\x44\x04/rls\x41\x01p"; }

std::string request(std::uint32_t stream) {
  return frame(kHeaders, kEndHeaders, stream, post_block()) + frame(kData, kEndStream, stream, "message");
}

std::string reset(std::uint32_t stream) { return frame(kReset, 0, stream, kCancel); }

// One server that answers at once, or not at all, and what it did.
class Peer {
 public:
  explicit Peer(bool answers) : answers_{answers}, server_{{.metrics = &metrics}} {
    EXPECT_TRUE(send(client_preface()));
  }

  bool send(const std::string& bytes) {
    const bool reads = server_.receive(bytes, now);
    requests += server_.requests().size();
    if (answers_) {
      for (const Request& each : server_.requests()) server_.respond(each.stream, {});  // takes no window
    }
    last_ = std::string{server_.output()};
    server_.written(last_.size());
    return reads;
  }

  [[nodiscard]] std::string_view goaway_code() {
    const std::vector<SeenFrame> frames = frames_of(last_);
    if (frames.empty() || frames.back().type != kGoaway) return "no GOAWAY";
    code_ = frames.back().payload.substr(4, 4);
    return code_;
  }

  // Sends `bytes(stream)` for new streams, `per_turn` in each turn of a millisecond, until `count` or the end.
  template <class Bytes>
  int storm(int count, int per_turn, const Bytes& bytes) {
    int sent = 0;
    for (bool reads = true; sent < count && reads; now += milliseconds{1}) {
      std::string turn;
      for (int i = 0; i < per_turn; ++i, ++sent, stream_ += 2) turn += bytes(stream_);
      reads = send(turn);
    }
    return sent;
  }

  Http2Metrics metrics;
  Instant now = kNow;
  std::size_t requests = 0;

 private:
  const bool answers_;
  Http2Server server_;
  std::uint32_t stream_ = 1;
  std::string last_, code_;
};

constexpr int kStorm = 100'000;  // at 50 in each millisecond

TEST(Http2Storm, TimeoutsWhoseRequestsWaitNeverCostTheConnection) {
  Peer peer{false};
  EXPECT_EQ(peer.storm(kStorm, 50, [](std::uint32_t id) { return request(id) + reset(id); }), kStorm);
  EXPECT_EQ(peer.requests, static_cast<std::size_t>(kStorm)) << "each is charged";
  EXPECT_EQ(peer.metrics.resets_before_answer.value(), static_cast<std::uint64_t>(kStorm));
}

TEST(Http2Storm, TimeoutsThatCrossTheirAnswersNeverCostTheConnection) {
  Peer peer{true};
  const auto late = [](std::uint32_t id) { return request(id) + (id > 200 ? reset(id - 200) : std::string{}); };
  EXPECT_EQ(peer.storm(kStorm, 50, late), kStorm);
  EXPECT_EQ(peer.metrics.resets_after_answer.value(), static_cast<std::uint64_t>(kStorm) - 100);
}

TEST(Http2Storm, AHundredThousandTimeoutsAfterAStallNeverCostTheConnection) {
  Peer peer{true};
  ASSERT_EQ(peer.storm(kStorm, 50, request), kStorm);
  std::string resets;
  for (std::uint32_t id = 1; id < 2 * kStorm; id += 2) resets += reset(id);
  EXPECT_TRUE(peer.send(resets));
  EXPECT_TRUE(peer.send(request(2 * kStorm + 1)));
}

TEST(Http2Storm, AHandfulOfGivenUpUploadsNeverCostsTheConnection) {
  Peer peer{true};
  for (int second = 0; second < 100; ++second, peer.now += std::chrono::seconds{1}) {
    ASSERT_EQ(peer.storm(900, 900,
                         [](std::uint32_t id) { return frame(kHeaders, kEndHeaders, id, post_block()) + reset(id); }),
              900);
  }
}

struct Flood {
  const char* what;
  std::string (*bytes)(std::uint32_t stream);
  metrics::Counter Http2Metrics::* counted;
};

TEST(Http2Flood, IsCutOffAndTheReasonCounted) {
  const Flood floods[] = {
      {"open and reset", [](std::uint32_t id) { return frame(kHeaders, kEndHeaders, id, post_block()) + reset(id); },
       &Http2Metrics::cut_for_aborts},
      {"malformed requests", [](std::uint32_t id) { return frame(kHeaders, kEndHeaders | kEndStream, id, "\x83"); },
       &Http2Metrics::cut_for_aborts},
      {"a window that overflows, so that we reset",
       [](std::uint32_t id) {
         return frame(kHeaders, kEndHeaders, id, post_block()) + frame(kWindow, 0, id, "\x7f\xff\xff\xff");
       },
       &Http2Metrics::cut_for_aborts},
      {"PING", [](std::uint32_t) { return frame(kPing, 0, 0, "12345678"); }, &Http2Metrics::cut_for_idle_frames},
      {"answers to no PING", [](std::uint32_t) { return frame(kPing, 1, 0, "12345678"); },
       &Http2Metrics::cut_for_idle_frames},
      {"SETTINGS", [](std::uint32_t) { return frame(kSettings, 0, 0, ""); }, &Http2Metrics::cut_for_idle_frames},
      {"WINDOW_UPDATE", [](std::uint32_t) { return frame(kWindow, 0, 0, {"\0\0\0\1", 4}); },
       &Http2Metrics::cut_for_idle_frames},
      {"empty DATA",
       [](std::uint32_t id) {
         return (id == 1 ? frame(kHeaders, kEndHeaders, 1, post_block()) : "") + frame(kData, 0, 1, "");
       },
       &Http2Metrics::cut_for_idle_frames},
      {"one stream reset again and again", [](std::uint32_t id) { return (id == 1 ? request(1) : "") + reset(1); },
       &Http2Metrics::cut_for_idle_frames},
      {"SETTINGS in one go",
       [](std::uint32_t) {
         std::string all;
         for (int i = 0; i < 2000; ++i) all += frame(kSettings, 0, 0, "");
         return all;
       },
       &Http2Metrics::cut_for_unread_acks},
      {"headers without an end",
       [](std::uint32_t id) {
         std::string all = frame(kHeaders, kEndStream, id, post_block());
         for (int i = 0; i < 20; ++i) all += frame(kContinuation, 0, id, "");
         return all;
       },
       &Http2Metrics::cut_for_continuations},
  };
  for (const Flood& flood : floods) {
    SCOPED_TRACE(flood.what);
    Peer peer{true};
    EXPECT_LT(peer.storm(kStorm, 50, flood.bytes), kStorm / 4);
    EXPECT_EQ(peer.goaway_code(), kCalm);
    EXPECT_EQ((peer.metrics.*flood.counted).value(), 1U);
  }
}

TEST(Http2Flood, OfTooManySettingsInOneFrameIsABreach) {
  Peer peer{true};
  std::string settings;
  for (int i = 0; i < 100; ++i) settings.append("\0\x7f\0\0\0\1", 6);
  EXPECT_FALSE(peer.send(frame(kSettings, 0, 0, settings)));
}

TEST(Http2Storm, WindowsOpenedByteByByteForAnswersAreNoFlood) {
  Http2Options options;
  options.floods.idle_burst = 100;
  options.floods.idle_frames_per_second = 0;
  testing::Loopback loop{echo, options, {.initial_window_bytes = 1}};
  for (int i = 0; i < 50; ++i) {
    const std::int32_t stream = loop.client.post("penstock", "/rls", {}, std::string(100, 'x'));
    ASSERT_EQ(loop.answers().at(stream).body.size(), 100U) << i;
  }
}

}  // namespace
}  // namespace penstock::transport
