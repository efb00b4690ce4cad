#include "penstock/transport/testing/loopback.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

namespace penstock::transport::testing {
namespace {

constexpr std::size_t kFrameHeaderBytes = 9;

std::uint32_t number(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

}  // namespace

std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  std::string bytes;
  for (const int shift : {16, 8, 0}) bytes += static_cast<char>(payload.size() >> shift & 0xff);
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(stream >> shift & 0xff);
  return bytes.append(payload);
}

std::string client_preface() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, ""); }

std::vector<SeenFrame> frames_of(std::string_view bytes) {
  std::vector<SeenFrame> frames;
  while (bytes.size() >= kFrameHeaderBytes) {
    const std::size_t size = number(bytes.substr(0, 3));
    if (bytes.size() < kFrameHeaderBytes + size) break;
    frames.push_back({.type = static_cast<std::uint8_t>(bytes[3]),
                      .flags = static_cast<std::uint8_t>(bytes[4]),
                      .stream = number(bytes.substr(5, 4)),
                      .payload = std::string{bytes.substr(kFrameHeaderBytes, size)}});
    bytes.remove_prefix(kFrameHeaderBytes + size);
  }
  EXPECT_TRUE(bytes.empty()) << bytes.size() << " bytes are left that are no whole frame";
  return frames;
}

Loopback::Loopback(Serve serve, const Http2Options& options, const Http2ClientOptions& client_options)
    : server{options}, client{client_options}, serve_{std::move(serve)} {}

bool Loopback::client_to_server(std::size_t piece) {
  const std::string bytes{client.output().substr(0, piece)};
  if (bytes.empty()) return false;
  client.written(bytes.size());
  server_reads = server.receive(bytes, kNow);
  for (const Request& request : server.requests()) serve_(server, request);
  resets.insert(resets.end(), server.resets().begin(), server.resets().end());
  return true;
}

bool Loopback::server_to_client(std::size_t piece) {
  const std::string bytes{server.output().substr(0, piece)};
  if (bytes.empty()) return false;
  server.written(bytes.size());
  client_reads = client.receive(bytes);
  return true;
}

void Loopback::run(std::size_t piece) {
  for (bool moved = true; moved;) {
    moved = client_to_server(piece);
    moved = server_to_client(piece) || moved;
  }
}

std::map<std::int32_t, ClientResponse> Loopback::answers(std::size_t piece) {
  run(piece);
  std::map<std::int32_t, ClientResponse> answers;
  while (auto answer = client.next_response()) answers.emplace(answer->stream, *answer);
  return answers;
}

void echo(Http2Server& server, const Request& request) {
  static constexpr std::array kHeaders{Header{.name = "content-type", .value = "application/grpc"}};
  static constexpr std::array kTrailers{Header{.name = "grpc-status", .value = "0"}};
  server.respond(request.stream, {.status = 200, .headers = kHeaders, .body = request.body, .trailers = kTrailers});
}

}  // namespace penstock::transport::testing
