#pragma once

#include <memory>

#include <nghttp2/nghttp2.h>

#include "penstock/transport/http2_session.h"

namespace penstock::transport {

// nghttp2's C callbacks, each of which calls the session that was given to `make`.
struct Http2Callbacks {
  using Session = Http2Server::Session;

  // A session that allocates from `memory` and reports to `session`; both must outlive it.
  [[nodiscard]] static std::unique_ptr<nghttp2_session, Session::Delete> make(Session& session, BlockPool& memory,
                                                                              const Http2Options& options);
  // Has the stream's reply read from it.
  [[nodiscard]] static nghttp2_data_provider reply_of(Http2Stream& stream) noexcept;

 private:
  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* header, void* user);
  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user);
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int data_received(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes, std::size_t size,
                           void* user);
  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t, void* user);
  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user);
  static ssize_t read_reply(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t max, std::uint32_t* flags,
                            nghttp2_data_source* source, void* user);
  static int send_data(nghttp2_session*, nghttp2_frame*, const std::uint8_t* frame_header, std::size_t size,
                       nghttp2_data_source* source, void* user);
};

}  // namespace penstock::transport
