// Counts what is allocated: nghttp2's memory comes from BlockPool, which takes it from operator new as all of ours.

#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "penstock/base/testing/allocation_count.h"
#include "penstock/transport/block_pool.h"
#include "penstock/transport/http1_server.h"
#include "penstock/transport/http2_client.h"
#include "penstock/transport/http2_server.h"
#include "penstock/transport/testing/loopback.h"

namespace penstock::transport {
namespace {

using testing::echo;
using testing::kNow;

TEST(BlockPool, GivesAgainWhatItGotBack) {
  BlockPool pool;
  void* first = pool.allocate(100);
  pool.release(first);
  const std::uint64_t before = allocation_count();
  void* second = pool.allocate(90);
  EXPECT_EQ(second, first) << "of the same step of 64 bytes";
  EXPECT_EQ(allocation_count(), before);
  pool.release(second);
}

TEST(BlockPool, KeepsWhatIsInABlockThatGrows) {
  BlockPool pool;
  auto* text = static_cast<char*>(pool.allocate(10));
  std::copy_n("123456789", 10, text);
  for (const std::size_t size : {64U, 65U, 1024U, 1025U, 100'000U}) {
    text = static_cast<char*>(pool.resize(text, size));
    EXPECT_STREQ(text, "123456789");
  }
  pool.release(text);
}

TEST(BlockPool, RefusesSizesThatOverflow) {
  BlockPool pool;
  EXPECT_EQ(pool.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(pool.hooks()->calloc(SIZE_MAX / 2, 3, pool.hooks()->mem_user_data), nullptr);
}

// The requests of one client, recorded so that only the server's work is counted.
std::string requests_of(Http2Client& client, int count) {
  static constexpr std::array kHeaders{Header{.name = "content-type", .value = "application/grpc"},
                                       Header{.name = "grpc-timeout", .value = "20m"}};
  for (int i = 0; i < count; ++i) {
    client.post("penstock", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit", kHeaders,
                std::string(200, 'x'));
  }
  std::string bytes{client.output()};
  client.written(bytes.size());
  return bytes;
}

TEST(Http2Server, AllocatesNothingPerRequestAfterWarmUp) {
  constexpr int kBatch = 16;
  Http2Client client;
  Http2Server server{Http2Options{}};
  std::uint64_t during = 0;
  for (int turn = 0; turn < 200; ++turn) {
    const std::string bytes = requests_of(client, kBatch);
    const std::uint64_t before = allocation_count();
    ASSERT_TRUE(server.receive(bytes, kNow));
    for (const Request& request : server.requests()) echo(server, request);
    const std::string_view output = server.output();
    if (turn >= 100) during += allocation_count() - before;
    ASSERT_TRUE(client.receive(output));
    server.written(output.size());
    while (client.next_response()) {
    }
  }
  EXPECT_EQ(during, 0) << "in " << 100 * kBatch << " requests";
}

TEST(Http1Server, AllocatesNothingPerRequestAfterWarmUp) {
  const std::string request =
      "POST /json HTTP/1.1\r\nHost: penstock\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n" +
      std::string(100, 'x');
  const std::string batch = request + request + request;
  Http1Server server{Http1Options{}};
  std::uint64_t during = 0;
  for (int turn = 0; turn < 200; ++turn) {
    const std::uint64_t before = allocation_count();
    ASSERT_TRUE(server.receive(batch, kNow));
    ASSERT_EQ(server.requests().size(), 3U);
    for (const Request& seen : server.requests()) server.respond(seen.stream, {.body = seen.body});
    server.written(server.output().size());
    if (turn >= 100) during += allocation_count() - before;
  }
  EXPECT_EQ(during, 0);
}

}  // namespace
}  // namespace penstock::transport
