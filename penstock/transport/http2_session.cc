#include "penstock/transport/http2_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/base/check.h"
#include "penstock/transport/http2_callbacks.h"
#include "penstock/transport/http2_fields.h"

namespace penstock::transport {
namespace {

// Tells the answer to the PING of `shut_down` from others.
constexpr std::array<std::uint8_t, 8> kEndPing{'p', 'e', 'n', 's', 't', 'o', 'c', 'k'};

}  // namespace

Http2Server::Session::Session(const Http2Options& options)
    : options_{options}, account_{options.held, options.max_held_bytes}, guard_{options.floods} {
  session_ = Http2Callbacks::make(*this, memory_, options_);
  submit_settings();
}

Http2Server::Session::~Session() = default;

void Http2Server::Session::submit_settings() {
  const std::array settings{
      // Spares the upkeep of a priority tree that no one asks for, and what a peer could do with it.
      nghttp2_settings_entry{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options_.max_concurrent_streams},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.initial_window_bytes},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
                             static_cast<std::uint32_t>(options_.max_header_bytes)},
  };
  PENSTOCK_CHECK(nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
  PENSTOCK_CHECK(nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0,
                                                       static_cast<std::int32_t>(options_.connection_window_bytes)) ==
                 0);
}

bool Http2Server::Session::receive(std::string_view bytes, Instant now) {
  forget_last_turn();
  account_output();
  resets_.clear();
  std::swap(resets_, own_resets_);
  if (broken_) return false;

  now_ = now;
  const ssize_t read = nghttp2_session_mem_recv(session_.get(), bytes_of(bytes), bytes.size());
  if (read < 0) cut_for(read);
  drained_ = false;
  pull();
  if (flood_ != nullptr && !broken_) {
    cut(NGHTTP2_ENHANCE_YOUR_CALM, flood_);
    pull();
  }
  hand_on();
  return !broken_;
}

void Http2Server::Session::forget_last_turn() {
  for (Http2Stream* stream : closed_) {
    account_.change(stream->accounted_bytes, 0);
    streams_.give_back(stream);
  }
  closed_.clear();
  requests_.clear();
}

void Http2Server::Session::cut(std::uint32_t code, Count reason) {
  broken_ = true;
  drained_ = false;
  count(reason);
  static_cast<void>(nghttp2_session_terminate_session(session_.get(), code));
}

void Http2Server::Session::cut_for(std::ptrdiff_t error) {
  if (flood_ != nullptr) return cut(NGHTTP2_ENHANCE_YOUR_CALM, flood_);
  if (error == NGHTTP2_ERR_FLOODED) return cut(NGHTTP2_ENHANCE_YOUR_CALM, &Http2Metrics::cut_for_unread_acks);
  if (error == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) {
    return cut(NGHTTP2_ENHANCE_YOUR_CALM, &Http2Metrics::cut_for_continuations);
  }
  cut(NGHTTP2_PROTOCOL_ERROR, &Http2Metrics::cut_for_breach);
}

Http2Stream* Http2Server::Session::find(std::int32_t id) noexcept {
  if (current_ != nullptr && current_->id == id) return current_;
  auto* stream = static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session_.get(), id));
  if (stream != nullptr) current_ = stream;
  return stream;
}

// The stream if its reply has come as far as `reply`; null also when it is gone.
Http2Stream* Http2Server::Session::find(std::int32_t id, Http2Stream::Reply reply) noexcept {
  Http2Stream* stream = find(id);
  return stream != nullptr && stream->reply == reply ? stream : nullptr;
}

void Http2Server::Session::respond(std::int32_t id, const Response& response) {
  Http2Stream* stream = find(id, Http2Stream::Reply::none);
  if (stream == nullptr) return;
  stream->reply = Http2Stream::Reply::ended;
  begin_lending(*stream);
  stream->lend_data(response.body);
  stream->lend_trailers(response.trailers);
  if (!response.body.empty()) {
    submit_headers(*stream, response.status, response.headers, Content::data);
  } else if (response.trailers.empty()) {
    submit_headers(*stream, response.status, response.headers, Content::none);
  } else {
    submit_headers(*stream, response.status, response.headers, Content::trailers);
    submit_trailers(*stream);
  }
  end_lending(*stream);
}

void Http2Server::Session::begin_stream(std::int32_t id, std::span<const Header> headers) {
  Http2Stream* stream = find(id, Http2Stream::Reply::none);
  if (stream == nullptr) return;
  stream->reply = Http2Stream::Reply::begun;
  begin_lending(*stream);
  submit_headers(*stream, 200, headers, Content::data);
  end_lending(*stream);
}

void Http2Server::Session::send_data(std::int32_t id, std::string_view bytes) {
  Http2Stream* stream = find(id, Http2Stream::Reply::begun);
  if (stream == nullptr || bytes.empty()) return;
  if (stream->unsent().size() + bytes.size() > options_.max_unsent_bytes) {
    reset(*stream, NGHTTP2_ENHANCE_YOUR_CALM, &Http2Metrics::overflowing_streams);
    return;
  }
  begin_lending(*stream);
  if (stream->unsent().empty()) {
    stream->lend_data(bytes);
  } else {
    stream->append_data(bytes);
  }
  // Fails while the headers are not out or data is queued: both lead to reading it without this.
  static_cast<void>(nghttp2_session_resume_data(session_.get(), id));
  end_lending(*stream);
}

void Http2Server::Session::end_stream(std::int32_t id, std::span<const Header> trailers) {
  Http2Stream* stream = find(id, Http2Stream::Reply::begun);
  if (stream == nullptr) return;
  stream->reply = Http2Stream::Reply::ended;
  begin_lending(*stream);
  stream->lend_trailers(trailers);
  if (stream->unsent().empty()) {
    if (trailers.empty()) {
      static_cast<void>(nghttp2_session_resume_data(session_.get(), id));
    } else {
      submit_trailers(*stream);
    }
  }
  end_lending(*stream);
}

// Its data stay: a frame of them may be under way.
void Http2Server::Session::reset(Http2Stream& stream, std::uint32_t code, Count reason) {
  if (stream.handed_on && stream.reply != Http2Stream::Reply::ended) own_resets_.push_back(stream.id);
  stream.reply = Http2Stream::Reply::ended;
  count(reason);
  PENSTOCK_CHECK(nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream.id, code) == 0);
  drained_ = false;
  pull();
}

void Http2Server::Session::consume(std::int32_t id, std::size_t size) {
  Http2Stream* stream = find(id);
  if (stream == nullptr) return;
  stream->consume_body(size);
  account(*stream);
}

void Http2Server::Session::shut_down() {
  if (broken_ || ending_ == Ending::refusing) return;
  if (ending_ == Ending::no) {
    ending_ = Ending::announced;
    static_cast<void>(nghttp2_submit_shutdown_notice(session_.get()));
  } else {
    ending_ = Ending::refusing;
    static_cast<void>(nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                                            nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR,
                                            nullptr, 0));
  }
  drained_ = false;
}

void Http2Server::Session::on_goaway_sent(std::uint32_t code) {
  if (code != NGHTTP2_NO_ERROR && !broken_) {
    broken_ = true;
    count(&Http2Metrics::cut_for_breach);
  }
  // Not before: PINGs overtake other frames, and an answer must mean that the GOAWAY was read.
  if (ending_ == Ending::announced) {
    static_cast<void>(nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, kEndPing.data()));
  }
}

// nghttp2 resets streams of malformed requests and those past the maximum by itself.
void Http2Server::Session::on_reset_sent(std::int32_t id, std::uint32_t code) {
  const Http2Stream* stream = find(id);
  if (stream != nullptr && stream->reply != Http2Stream::Reply::none) return;
  count(code == NGHTTP2_REFUSED_STREAM ? &Http2Metrics::refused_streams : &Http2Metrics::malformed_requests);
  if (!guard_.on_abort(now_)) flooded(&Http2Metrics::cut_for_aborts);
}

void Http2Server::Session::on_ping_answer(std::span<const std::uint8_t, 8> payload) {
  if (ending_ == Ending::announced && std::ranges::equal(payload, kEndPing)) shut_down();
}

std::string_view Http2Server::Session::output() {
  if (!drained_) pull();
  return output_.unsent();
}

bool Http2Server::Session::finished() const noexcept {
  if (!output_.empty()) return false;
  return failed_ || (nghttp2_session_want_read(session_.get()) == 0 && nghttp2_session_want_write(session_.get()) == 0);
}

void Http2Server::Session::pull() {
  if (failed_) return;
  while (!output_full() || lent_frames_ > 0) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size > 0) {
      output_.append(text_of(bytes, static_cast<std::size_t>(size)));
      continue;
    }
    if (size < 0) {
      broken_ = failed_ = true;
      lent_frames_ = 0;
    }
    drained_ = !output_full();
    return;
  }
}

}  // namespace penstock::transport
