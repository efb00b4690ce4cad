#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "penstock/base/instant.h"
#include "penstock/transport/message.h"

namespace penstock::transport {

struct Http2Options {
  std::size_t max_body_bytes = 4 * 1024 * 1024 + 5;  // a gRPC message of 4 MiB and its prefix
  std::size_t max_header_bytes = 16 * 1024;          // of one request, names and values
  std::uint32_t max_concurrent_streams = 4096;       // Envoy opens up to 1024 before it has read ours
  std::uint32_t initial_window_bytes = 1024 * 1024;  // of a stream
  std::uint32_t connection_window_bytes = 16 * 1024 * 1024;
  std::size_t max_held_bytes = 64 * 1024 * 1024;  // of all requests that are not answered; one past it is oversize
  std::size_t max_unsent_bytes = 1024 * 1024;     // from then on `wants_input` is false until the peer reads
  // Resets that cost nothing are ordinary for a proxy whose timeout passes; the budget is for those who flood.
  std::uint64_t reset_burst = 100'000;
  std::uint64_t resets_per_second = 10'000;
  // Requests on these paths are handed on as their data come, not only when they are complete.
  std::span<const std::string_view> streaming_paths;  // must outlive the connection
};

// One HTTP/2 server connection (RFC 9113), without a socket: bytes in, requests out; replies in, bytes out. nghttp2
// does the framing.
//
// Order of one turn: `receive` what was read, serve all `requests()`, answer with `respond`, then write `output()`.
//
// Threading: Loop-owned. Cost: nothing of ours is allocated per request after warm-up.
class Http2Server {
 public:
  class Session;  // the implementation

  explicit Http2Server(const Http2Options& options);
  ~Http2Server();
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;

  // Takes bytes as they were read, cut anywhere. False when the peer broke the protocol: `output` holds the GOAWAY to
  // send before closing. Drops the requests of the call before. A request whose headers pass the maximum is answered
  // here, with 431.
  [[nodiscard]] bool receive(std::string_view bytes, Instant now);

  // What became ready in the last `receive`, in order.
  [[nodiscard]] std::span<const Request> requests() const noexcept;

  // Streams that the last `receive` found reset before they were answered to the end, once handed out by `requests`
  // (in the same call at the earliest); a reply to one is dropped.
  [[nodiscard]] std::span<const std::int32_t> resets() const noexcept;

  // Answers a whole request. A stream that is gone is no error.
  void respond(std::int32_t stream, const Response& response);

  // Streaming answers: headers once, data any number of times, trailers once. A stream whose peer leaves more than
  // `max_unsent_bytes` of it waiting is reset (ENHANCE_YOUR_CALM) and listed in `resets` like one that the peer reset.
  void begin_stream(std::int32_t stream, std::span<const Header> headers);
  void send_data(std::int32_t stream, std::string_view bytes);
  void end_stream(std::int32_t stream, std::span<const Header> trailers);
  // Drops the first `size` bytes of a streaming request's body.
  void consume(std::int32_t stream, std::size_t size);

  // Begins a graceful end: a GOAWAY that refuses nothing yet and a PING; when that is answered, or on the second call,
  // the last GOAWAY. Streams that are open go on to their end.
  void shut_down();

  // As Http1Server's; here the GOAWAY of `shut_down` says it, and nothing is lost by it.
  void announce_end() noexcept {}

  // What is to be written next; call `written` with what the socket took.
  [[nodiscard]] std::string_view output();
  void written(std::size_t size);

  [[nodiscard]] bool wants_input() const noexcept;              // false while too much is unsent
  [[nodiscard]] bool paused() const noexcept { return false; }  // as Http1Server's; here all bytes are parsed at once
  [[nodiscard]] bool finished() const noexcept;                 // nothing more will be read or written: close
  [[nodiscard]] std::size_t open_streams() const noexcept;

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace penstock::transport
