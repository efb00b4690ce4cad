#include "penstock/transport/http2_callbacks.h"

#include <limits>

#include "penstock/base/check.h"
#include "penstock/transport/http2_fields.h"

namespace penstock::transport {
namespace {

constexpr std::size_t kFrameHeaderBytes = 9;

Http2Callbacks::Session& session_of(void* user) noexcept { return *static_cast<Http2Callbacks::Session*>(user); }

using CallbackSet =
    std::unique_ptr<nghttp2_session_callbacks,
                    decltype([](nghttp2_session_callbacks* set) { nghttp2_session_callbacks_del(set); })>;
using OptionSet = std::unique_ptr<nghttp2_option, decltype([](nghttp2_option* set) { nghttp2_option_del(set); })>;

CallbackSet new_callbacks() {
  nghttp2_session_callbacks* set = nullptr;
  PENSTOCK_CHECK(nghttp2_session_callbacks_new(&set) == 0);
  return CallbackSet{set};
}

OptionSet new_options(const Http2Options& options) {
  nghttp2_option* set = nullptr;
  PENSTOCK_CHECK(nghttp2_option_new(&set) == 0);
  // Its own budget takes a caller's timeout for a flood, and reads the wall clock: FloodGuard stands in for it.
  constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max() / 2;
  nghttp2_option_set_stream_reset_rate_limit(set, kUnlimited, kUnlimited);
  nghttp2_option_set_max_continuations(set, options.max_continuations);
  nghttp2_option_set_max_outbound_ack(set, options.max_unread_acks);
  nghttp2_option_set_max_settings(set, options.max_settings);
  // Closed streams matter only to the priority tree, which nothing here uses.
  nghttp2_option_set_no_closed_streams(set, 1);
  return OptionSet{set};
}

}  // namespace

std::unique_ptr<nghttp2_session, Http2Callbacks::Session::Delete> Http2Callbacks::make(Session& session,
                                                                                       BlockPool& memory,
                                                                                       const Http2Options& options) {
  const CallbackSet callbacks = new_callbacks();
  nghttp2_session_callbacks* set = callbacks.get();
  nghttp2_session_callbacks_set_on_begin_frame_callback(set, begin_frame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(set, begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(set, header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(set, frame_received);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(set, data_received);
  nghttp2_session_callbacks_set_on_stream_close_callback(set, stream_closed);
  nghttp2_session_callbacks_set_on_frame_send_callback(set, frame_sent);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(set, frame_not_sent);
  nghttp2_session_callbacks_set_send_data_callback(set, send_data);

  nghttp2_session* made = nullptr;
  PENSTOCK_CHECK(nghttp2_session_server_new3(&made, set, &session, new_options(options).get(), memory.hooks()) == 0);
  return std::unique_ptr<nghttp2_session, Session::Delete>{made};
}

nghttp2_data_provider Http2Callbacks::reply_of(Http2Stream& stream) noexcept {
  return {.source = {.ptr = &stream}, .read_callback = read_reply};
}

// nghttp2 without a priority tree does not look into PRIORITY frames.
int Http2Callbacks::begin_frame(nghttp2_session*, const nghttp2_frame_hd* header, void*) {
  return header->type == NGHTTP2_PRIORITY && header->stream_id == 0 ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

int Http2Callbacks::begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  session_of(user).on_begin_headers(frame->hd.stream_id, frame->headers.cat == NGHTTP2_HCAT_REQUEST);
  return 0;
}

int Http2Callbacks::header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t name_size,
                           const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
  // nghttp2 then resets the stream, and reads the rest of the list for its table alone.
  return session_of(user).on_field(text_of(name, name_size), text_of(value, value_size))
             ? 0
             : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int Http2Callbacks::frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  Session& session = session_of(user);
  const bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  bool calm = true;
  switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
      if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        session.on_request_headers(end);
      } else {
        session.on_end_of_data(frame->hd.stream_id, end);
      }
      break;
    case NGHTTP2_DATA:
      session.on_end_of_data(frame->hd.stream_id, end);
      if (frame->hd.length == 0 && !end) calm = session.on_idle_frame();
      break;
    case NGHTTP2_PING:
      if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) session.on_ping_answer(frame->ping.opaque_data);
      calm = session.on_idle_frame();
      break;
    case NGHTTP2_RST_STREAM: calm = session.on_reset(frame->hd.stream_id); break;
    case NGHTTP2_SETTINGS: session.on_settings(); [[fallthrough]];
    default: calm = session.on_idle_frame(); break;
  }
  return calm ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

int Http2Callbacks::data_received(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                                  std::size_t size, void* user) {
  session_of(user).on_data(id, text_of(bytes, size));
  return 0;
}

int Http2Callbacks::stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
  session_of(user).on_close(id);
  return 0;
}

int Http2Callbacks::frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  if (frame->hd.type == NGHTTP2_HEADERS) {
    session_of(user).on_headers_gone(frame->hd.stream_id);
  } else if (frame->hd.type == NGHTTP2_GOAWAY) {
    session_of(user).on_goaway_sent(frame->goaway.error_code);
  } else if (frame->hd.type == NGHTTP2_RST_STREAM) {
    session_of(user).on_reset_sent(frame->hd.stream_id, frame->rst_stream.error_code);
  }
  return 0;
}

int Http2Callbacks::frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
  if (frame->hd.type == NGHTTP2_HEADERS) session_of(user).on_headers_gone(frame->hd.stream_id);
  return 0;
}

ssize_t Http2Callbacks::read_reply(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t max, std::uint32_t* flags,
                                   nghttp2_data_source* source, void* user) {
  return session_of(user).on_read_reply(*static_cast<Http2Stream*>(source->ptr), max, *flags);
}

int Http2Callbacks::send_data(nghttp2_session*, nghttp2_frame*, const std::uint8_t* frame_header, std::size_t size,
                              nghttp2_data_source* source, void* user) {
  return session_of(user).on_send_data(*static_cast<Http2Stream*>(source->ptr),
                                       text_of(frame_header, kFrameHeaderBytes), size);
}

}  // namespace penstock::transport
