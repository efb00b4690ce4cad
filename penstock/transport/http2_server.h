#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "penstock/base/instant.h"
#include "penstock/transport/byte_budget.h"
#include "penstock/transport/flood_guard.h"
#include "penstock/transport/message.h"
#include "penstock/transport/patience.h"
#include "penstock/transport/transport_metrics.h"

namespace penstock::transport {

struct Http2Options {
  std::size_t max_body_bytes = 4 * 1024 * 1024 + 5;  // a gRPC message of 4 MiB and its prefix
  std::size_t max_header_bytes = 16 * 1024;          // of one request, names and values; see kMaxListFactor
  std::uint32_t max_concurrent_streams = 4096;       // Envoy opens up to 1024 before it has read ours
  std::uint32_t initial_window_bytes = 1024 * 1024;  // of a stream
  std::uint32_t connection_window_bytes = 16 * 1024 * 1024;
  // Of all requests that are not answered, and replies that wait for the peer's window. A request past it is oversize;
  // a stream whose reply would be is reset.
  std::size_t max_held_bytes = 16 * 1024 * 1024;
  std::size_t max_unsent_bytes = 1024 * 1024;  // from then on `wants_input` is false until the peer reads
  std::uint32_t max_continuations = 8;         // frames of one header block after the first
  std::size_t max_unread_acks = 1000;          // answers to PING and SETTINGS that wait to be written
  std::size_t max_settings = 32;               // in one frame
  FloodLimits floods;
  // Requests on these paths are handed on as their data come, not only when they are complete.
  std::span<const std::string_view> streaming_paths;  // must outlive the connection
  // Shared by the connections of a loop, which they must not outlive; may be null.
  ByteBudget* held = nullptr;
  Http2Metrics* metrics = nullptr;
};

// One HTTP/2 server connection (RFC 9113), without a socket: bytes in, requests out; replies in, bytes out. nghttp2
// does the framing.
//
// Order of one turn: `receive` what was read, serve all `requests()`, answer with `respond`, then write `output()`.
//
// Threading: Loop-owned. Cost: nothing of ours is allocated per request after warm-up.
class Http2Server {
 public:
  using Options = Http2Options;
  // A header list, or trailers, past so many times `max_header_bytes` are not looked at to their end: the stream is
  // reset.
  static constexpr std::size_t kMaxListFactor = 2;
  class Session;  // the implementation

  explicit Http2Server(const Http2Options& options);
  ~Http2Server();
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;

  // Takes bytes as they were read, cut anywhere. False when the peer broke the protocol, or floods (see FloodGuard;
  // ENHANCE_YOUR_CALM): `output` holds the GOAWAY to send before closing. Drops the requests of the call before. A
  // request whose headers pass the maximum is answered here, with 431. `now` is of a clock that is never set, the same
  // for all calls; it is not that of decisions.
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

  // Drops the requests of the last `receive`, and ends what has waited too long for the peer; call about once a second
  // or more often, with the times of one clock (see Patience). Half-sent requests and replies that are not taken are
  // reset (CANCEL), each listed in `resets` where it was handed out; a connection without SETTINGS or without use gets
  // a GOAWAY. False when the peer takes no output: close at once. Streaming answers that have begun may take as long as
  // they like.
  [[nodiscard]] bool expire(Instant now, const Patience& patience);

  // As Http1Server's; here the GOAWAY of `shut_down` says it, and nothing is lost by it.
  void announce_end() noexcept {}

  // What is to be written next; call `written` with what the socket took.
  [[nodiscard]] std::string_view output();
  void written(std::size_t size);

  [[nodiscard]] bool wants_input() const noexcept;              // false while too much is unsent
  [[nodiscard]] bool paused() const noexcept { return false; }  // as Http1Server's; here all bytes are parsed at once
  [[nodiscard]] bool finished() const noexcept;                 // nothing more will be read or written: close
  [[nodiscard]] std::size_t open_streams() const noexcept;
  // Of requests and replies, with the output that was left unread.
  [[nodiscard]] std::size_t held_bytes() const noexcept;

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace penstock::transport
