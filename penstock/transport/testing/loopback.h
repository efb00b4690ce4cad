#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/instant.h"
#include "penstock/transport/http2_client.h"
#include "penstock/transport/http2_server.h"

namespace penstock::transport::testing {

inline constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

// One HTTP/2 frame's bytes (RFC 9113 4.1).
[[nodiscard]] std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload);

// What a client sends before anything else: the preface and empty SETTINGS.
[[nodiscard]] std::string client_preface();

struct SeenFrame {
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;

  friend bool operator==(const SeenFrame&, const SeenFrame&) = default;
};

// Cuts bytes into frames; fails the test when they do not end with one.
[[nodiscard]] std::vector<SeenFrame> frames_of(std::string_view bytes);

// A client and a server joined in memory. Every request is answered by `serve` in the turn in which it arrives.
class Loopback {
 public:
  using Serve = std::function<void(Http2Server&, const Request&)>;

  explicit Loopback(Serve serve, const Http2Options& options = {}, const Http2ClientOptions& client_options = {});

  // Carries bytes both ways until neither side has any, at most `piece` at a time.
  void run(std::size_t piece = SIZE_MAX);
  bool client_to_server(std::size_t piece = SIZE_MAX);  // false when there was nothing
  bool server_to_client(std::size_t piece = SIZE_MAX);

  // Runs, and gives the answers that came by stream.
  std::map<std::int32_t, ClientResponse> answers(std::size_t piece = SIZE_MAX);

  Http2Server server;
  Http2Client client;
  bool server_reads = true;  // what `receive` said last
  bool client_reads = true;
  std::vector<std::int32_t> resets;  // all that the server reported

 private:
  Serve serve_;
};

// Answers as a gRPC server does: the request's body, then the status in trailers.
void echo(Http2Server& server, const Request& request);

}  // namespace penstock::transport::testing
