#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "penstock/base/instant.h"
#include "penstock/transport/byte_budget.h"
#include "penstock/transport/message.h"
#include "penstock/transport/patience.h"
#include "penstock/transport/transport_metrics.h"

namespace penstock::transport {

struct Http1Options {
  std::size_t max_body_bytes = 4 * 1024 * 1024;
  std::uint32_t max_header_bytes = 16 * 1024;
  std::size_t max_unsent_bytes = 1024 * 1024;
  // Shared by the connections of a loop, which they must not outlive; may be null.
  ByteBudget* held = nullptr;
  Http1Metrics* metrics = nullptr;
};

// One HTTP/1.1 server connection (RFC 9112), without a socket: bytes in, requests out; replies in, bytes out. Beast's
// parser does the framing. Keeps connections alive, takes pipelined requests, answers `Expect: 100-continue`, and
// answers by itself what it cannot parse: 400, 413 or 431, or 503 where `held` is spent, then it closes.
//
// Replies may be given in any order; each waits for its turn. No further request is read while kMaxPipelined of them
// are unanswered, their bodies pass `max_body_bytes` together, or too much output is unsent.
//
// Threading: Loop-owned. Cost: nothing of ours is allocated per request after warm-up.
class Http1Server {
 public:
  using Options = Http1Options;
  static constexpr std::size_t kMaxPipelined = 64;

  explicit Http1Server(const Http1Options& options);
  ~Http1Server();
  Http1Server(const Http1Server&) = delete;
  Http1Server& operator=(const Http1Server&) = delete;

  // Takes bytes as they were read, cut anywhere. False when no more will be read, since these could not be parsed:
  // serve `requests`, write `output` until `finished`, then close. Drops the requests of the call before. `now` is of a
  // clock that is never set, as for Http2Server.
  [[nodiscard]] bool receive(std::string_view bytes, Instant now);
  [[nodiscard]] std::span<const Request> requests() const noexcept;

  // Answers a request; one that is not open is ignored. Adds Content-Length, and Connection where it is due; Date is
  // left out. A HEAD request gets no body. Line breaks and NUL in a header's value become spaces (RFC 9110 5.5).
  // Requires: header names are lower-case tokens, none of the two named.
  void respond(std::int32_t stream, const Response& response);

  // The reply to the last request that was handed out, or that is being read, ends the connection; without one it ends
  // at once.
  void shut_down();

  // From now on a reply says that the connection ends, and ends it; an idle connection stays until `shut_down`.
  void announce_end() noexcept;

  // Drops the requests of the last `receive`, and ends what has waited too long for the peer; call about once a second
  // or more often, with the times of one clock (see Patience). A half-sent request is answered 408, a connection
  // without requests ends. Nothing is held against the peer while requests before it are not answered. False when the
  // peer takes no output: close at once.
  [[nodiscard]] bool expire(Instant now, const Patience& patience);

  [[nodiscard]] std::string_view output();
  void written(std::size_t size);

  [[nodiscard]] bool wants_input() const noexcept;
  // Reading paused before all bytes were parsed: call `receive`, with none if need be, once `wants_input` is true.
  [[nodiscard]] bool paused() const noexcept;
  [[nodiscard]] bool finished() const noexcept;
  [[nodiscard]] std::size_t open_streams() const noexcept;  // requests not answered yet
  // Of requests and replies, with the output that was left unread.
  [[nodiscard]] std::size_t held_bytes() const noexcept;

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace penstock::transport
