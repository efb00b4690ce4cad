#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "penstock/base/instant.h"
#include "penstock/transport/block_pool.h"
#include "penstock/transport/byte_budget.h"
#include "penstock/transport/flood_guard.h"
#include "penstock/transport/http2_server.h"
#include "penstock/transport/http2_stream.h"
#include "penstock/transport/message.h"
#include "penstock/transport/output_buffer.h"
#include "penstock/transport/patience.h"
#include "penstock/transport/transport_metrics.h"

namespace penstock::transport {

// What stands behind Http2Server: an nghttp2 session and its callbacks.
//
// A reply is normally lent, not copied: `respond` hands nghttp2 views of the caller's memory and pulls the frames out
// before it returns, so the body is copied once, into the output. Only what the peer's window or the full output holds
// back is copied into the stream.
class Http2Server::Session {
 public:
  explicit Session(const Http2Options& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool receive(std::string_view bytes, Instant now);
  [[nodiscard]] std::span<const Request> requests() const noexcept { return requests_; }
  [[nodiscard]] std::span<const std::int32_t> resets() const noexcept { return resets_; }

  void respond(std::int32_t id, const Response& response);
  void begin_stream(std::int32_t id, std::span<const Header> headers);
  void send_data(std::int32_t id, std::string_view bytes);
  void end_stream(std::int32_t id, std::span<const Header> trailers);
  void consume(std::int32_t id, std::size_t size);
  void shut_down();
  [[nodiscard]] bool expire(Instant now, const Patience& patience);

  [[nodiscard]] std::string_view output();
  void written(std::size_t size) {
    output_.written(size);
    account_output();
  }
  [[nodiscard]] bool wants_input() const noexcept { return !broken_ && !output_full(); }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return account_.held(); }
  [[nodiscard]] bool finished() const noexcept;
  [[nodiscard]] std::size_t open_streams() const noexcept { return open_; }

 private:
  friend struct Http2Callbacks;

  enum class Ending : std::uint8_t { no, announced, refusing };
  enum class Content : std::uint8_t { none, data, trailers };

  struct Delete {
    void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  };

  using Count = metrics::Counter Http2Metrics::*;

  void submit_settings();
  void forget_last_turn();
  void count(Count which) noexcept {
    if (options_.metrics != nullptr) (options_.metrics->*which).add();
  }
  // The last GOAWAY, with a code; nothing more is read.
  void cut(std::uint32_t code, Count reason);
  void cut_for(std::ptrdiff_t error);
  void flooded(Count reason) noexcept { flood_ = reason; }

  [[nodiscard]] bool may_hold(std::size_t size) noexcept;
  void account(Http2Stream& stream) noexcept;  // for what it holds now
  void account_output() noexcept;

  // What nghttp2 reports while it reads. False: the peer floods.
  [[nodiscard]] bool on_idle_frame() noexcept;
  [[nodiscard]] bool on_reset(std::int32_t id) noexcept;
  void on_settings() noexcept { met_ = true; }
  void on_begin_headers(std::int32_t id, bool request);
  // False: the list is so long that no more of it is looked at.
  [[nodiscard]] bool on_field(std::string_view name, std::string_view value);
  void on_request_headers(bool end);
  void on_data(std::int32_t id, std::string_view bytes);
  void on_end_of_data(std::int32_t id, bool end);
  void on_ping_answer(std::span<const std::uint8_t, 8> payload);
  void on_close(std::int32_t id);
  void make_ready(Http2Stream& stream);
  void mark_oversize(Http2Stream& stream);
  void hand_on();

  // What nghttp2 asks for or reports while it writes.
  std::ptrdiff_t on_read_reply(Http2Stream& stream, std::size_t max, std::uint32_t& flags);
  int on_send_data(Http2Stream& stream, std::string_view frame_header, std::size_t size);
  void on_headers_gone(std::int32_t id);
  void on_goaway_sent(std::uint32_t code);
  void on_reset_sent(std::int32_t id, std::uint32_t code);

  // Where the loop's budget is spent, what every connection may hold is as much as it may leave unread.
  [[nodiscard]] bool output_full() const noexcept {
    return output_.size() >= options_.max_unsent_bytes ||
           (output_.size() >= ByteAccount::kAlways && account_.overdrawn());
  }
  [[nodiscard]] Http2Stream* find(std::int32_t id) noexcept;
  [[nodiscard]] Http2Stream* find(std::int32_t id, Http2Stream::Reply reply) noexcept;
  void begin_lending(Http2Stream& stream) noexcept;
  void end_lending(Http2Stream& stream);
  void reset(Http2Stream& stream, std::uint32_t code, Count reason);
  void trim();
  void expire_streams(Instant now, const Patience& patience);
  void submit_headers(Http2Stream& stream, int status, std::span<const Header> headers, Content content);
  void submit_trailers(Http2Stream& stream);
  void add_fields(std::span<const Header> headers, std::uint8_t flags);
  [[nodiscard]] std::uint8_t field_flags(const Http2Stream& stream) noexcept;
  void pull();

  const Http2Options options_;
  Instant now_;
  Ending ending_ = Ending::no;
  bool met_ = false;      // the client's SETTINGS have come
  bool broken_ = false;   // nothing more is read
  bool failed_ = false;   // nghttp2 ran out of memory: nothing more is pulled from it
  bool drained_ = false;  // nghttp2 has nothing to write that it could write
  std::size_t open_ = 0;
  std::uint64_t opened_ = 0;  // streams, ever
  ByteAccount account_;       // of streams, and of output that was left unread
  std::size_t accounted_output_ = 0;
  FloodGuard guard_;
  Count flood_ = nullptr;  // why the connection is to be cut
  Wait preface_wait_;
  Wait unused_wait_;
  Wait idle_wait_;
  std::uint64_t opened_then_ = 0;  // when `expire` was called last
  SlowReader slow_reader_;

  OutputBuffer output_;
  std::vector<Request> requests_;
  std::vector<Http2Stream*> ready_;
  std::vector<Http2Stream*> closed_;  // in this turn; their requests are still shown
  std::vector<std::int32_t> resets_;
  std::vector<std::int32_t> own_resets_;  // to be listed by the next `receive`
  std::vector<nghttp2_nv> fields_;
  std::array<char, 3> status_{};

  std::size_t list_bytes_ = 0;      // of the header list that is being read, names and values
  Http2Stream* current_ = nullptr;  // the one that was looked up last
  Http2Stream* heading_ = nullptr;  // whose request headers are being read
  Http2Stream* lender_ = nullptr;   // whose reply's memory is the caller's
  int lent_frames_ = 0;             // header frames in nghttp2's queue that point into it

  Http2StreamPool streams_;
  BlockPool memory_;
  std::unique_ptr<nghttp2_session, Delete> session_;
};

}  // namespace penstock::transport
