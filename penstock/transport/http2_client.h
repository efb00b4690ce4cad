#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/transport/message.h"

namespace penstock::transport {

// A whole answer as a client sees it. Headers and trailers are one list: gRPC's status may stand in either.
struct ClientResponse {
  std::int32_t stream = 0;
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool reset = false;  // the stream ended without a whole answer: reset or refused by the server
};

struct Http2ClientOptions {
  std::uint32_t initial_window_bytes = 1024 * 1024;  // how much of an answer may come before it is read
  std::size_t max_body_bytes = 64 * 1024 * 1024;     // of one answer; a larger one is reset
};

// The client side of one HTTP/2 connection, without a socket; for `penstock ask` and for tests.
// Threading: Loop-owned.
class Http2Client {
 public:
  explicit Http2Client(const Http2ClientOptions& options = {});
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  // Sends a POST and ends the stream, or leaves it open for `send_data`. Returns the stream. After a GOAWAY of the
  // server the answer is a reset one.
  std::int32_t post(std::string_view authority, std::string_view path, std::span<const Header> headers,
                    std::string_view body, bool end = true);
  void send_data(std::int32_t stream, std::string_view bytes, bool end);
  void reset(std::int32_t stream, std::uint32_t code);  // no answer will be returned for it

  // False when the server broke the protocol or closed for good.
  [[nodiscard]] bool receive(std::string_view bytes);
  // Answers that became complete; each is returned once.
  [[nodiscard]] std::optional<ClientResponse> next_response();
  // What has come of an answer that is not complete yet (streaming).
  [[nodiscard]] std::string_view partial_body(std::int32_t stream) const;
  [[nodiscard]] bool goaway_received() const noexcept;

  [[nodiscard]] std::string_view output();
  void written(std::size_t size);

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace penstock::transport
