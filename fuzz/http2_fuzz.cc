// Any bytes, cut anywhere, as what a client of HTTP/2 sends; every request is answered. The first byte says how to cut
// and whether the connection's preface is put in front, the second how replies are given.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/check.h"
#include "penstock/transport/http2_server.h"

namespace {

using namespace penstock;
using namespace penstock::transport;

constexpr std::array<std::string_view, 1> kStreaming{"/s"};
constexpr std::array kHeaders{Header{.name = "content-type", .value = "application/grpc"}};
constexpr std::array kTrailers{Header{.name = "grpc-status", .value = "0"}};
constexpr std::string_view kPreface{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33};
constexpr Http2Options kOptions{
    .max_body_bytes = 4096,
    .max_header_bytes = 512,
    .max_concurrent_streams = 8,
    .max_held_bytes = 16'384,
    .max_unsent_bytes = 2048,
    .floods = {.abort_burst = 100, .aborts_per_second = 10, .idle_burst = 100, .idle_frames_per_second = 10},
    .streaming_paths = kStreaming};

// A turn takes a millisecond.
constexpr Patience kPatience{.request = std::chrono::milliseconds{5},
                             .reply = std::chrono::milliseconds{8},
                             .idle = std::chrono::milliseconds{8},
                             .unused = std::chrono::milliseconds{20}};

void answer(Http2Server& server, const Request& request, std::uint8_t how) {
  PENSTOCK_CHECK(request.body.size() <= kOptions.max_body_bytes);
  PENSTOCK_CHECK(request.path.size() <= kOptions.max_header_bytes);
  if ((how & 1) != 0) return;  // a store that does not answer
  if (request.path == kStreaming[0]) {
    server.begin_stream(request.stream, kHeaders);
    server.send_data(request.stream, request.body);
    server.consume(request.stream, request.body.size() / 2 + 1);
    if (request.complete) server.end_stream(request.stream, kTrailers);
  } else {
    server.respond(request.stream, {.status = 200, .headers = kHeaders, .body = request.body, .trailers = kTrailers});
  }
}

void converse(std::string_view bytes, std::size_t piece, std::uint8_t how, const Http2Options& options) {
  Http2Server server{options};
  Instant now = kStateEpoch;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    now += Nanoseconds{1'000'000};
    const bool reads = server.receive(part, now);
    for (const Request& request : server.requests()) {
      answer(server, request, how);
      how = static_cast<std::uint8_t>(how >> 1 | how << 7);
    }
    const std::size_t unsent = server.output().size();
    server.written((how & 2) != 0 ? unsent : unsent / 2);
    if (!reads) break;
    if ((how & 4) != 0 && !server.expire(now, kPatience)) break;
    if (part.size() % 64 == 63) server.shut_down();
  }
  server.written(server.output().size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t cut = data[0];
  std::string bytes = (cut & 1) != 0 ? std::string{kPreface} : std::string{};
  bytes.append(reinterpret_cast<const char*>(data) + 2, size - 2);

  ByteBudget budget{kOptions.max_held_bytes / 2};
  Http2Metrics metrics;
  Http2Options options = kOptions;
  options.held = &budget;
  options.metrics = &metrics;
  converse(bytes, cut < 2 ? SIZE_MAX : cut, data[1], options);
  PENSTOCK_CHECK(budget.used() == 0);
  return 0;
}
