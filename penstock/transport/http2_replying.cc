// How Http2Server's session hands replies to nghttp2, and their data to the output.

#include <algorithm>

#include "penstock/base/check.h"
#include "penstock/transport/http2_callbacks.h"
#include "penstock/transport/http2_fields.h"
#include "penstock/transport/http2_session.h"

namespace penstock::transport {

void Http2Server::Session::begin_lending(Http2Stream& stream) noexcept {
  // With older frames in the queue or a full output the reply would outlive the call.
  if (drained_ && !output_full()) lender_ = &stream;
}

void Http2Server::Session::end_lending(Http2Stream& stream) {
  drained_ = false;
  pull();
  PENSTOCK_CHECK(lent_frames_ == 0);
  lender_ = nullptr;
  stream.keep_lent();
  const std::size_t before = stream.accounted_bytes;
  account(stream);
  if (stream.accounted_bytes > before && account_.overdrawn()) {
    reset(stream, NGHTTP2_ENHANCE_YOUR_CALM, &Http2Metrics::overflowing_streams);
  }
}

std::uint8_t Http2Server::Session::field_flags(const Http2Stream& stream) noexcept {
  if (lender_ != &stream) return NGHTTP2_NV_FLAG_NONE;
  ++lent_frames_;
  return NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
}

void Http2Server::Session::on_headers_gone(std::int32_t id) {
  if (lent_frames_ > 0 && lender_->id == id) --lent_frames_;
}

void Http2Server::Session::add_fields(std::span<const Header> headers, std::uint8_t flags) {
  for (const Header& header : headers) fields_.push_back(field_of(header.name, header.value, flags));
}

void Http2Server::Session::submit_headers(Http2Stream& stream, int status, std::span<const Header> headers,
                                          Content content) {
  PENSTOCK_CHECK(status >= 100 && status <= 999);
  status_[0] = static_cast<char>('0' + status / 100);
  status_[1] = static_cast<char>('0' + status / 10 % 10);
  status_[2] = static_cast<char>('0' + status % 10);
  const std::uint8_t flags = field_flags(stream);
  fields_.clear();
  fields_.push_back(field_of(":status", {status_.data(), status_.size()}, flags));
  add_fields(headers, flags);

  int result = 0;
  if (content == Content::trailers) {
    result = nghttp2_submit_headers(session_.get(), NGHTTP2_FLAG_NONE, stream.id, nullptr, fields_.data(),
                                    fields_.size(), nullptr);
  } else {
    const nghttp2_data_provider data = Http2Callbacks::reply_of(stream);
    result = nghttp2_submit_response(session_.get(), stream.id, fields_.data(), fields_.size(),
                                     content == Content::data ? &data : nullptr);
  }
  PENSTOCK_CHECK(result == 0);
}

void Http2Server::Session::submit_trailers(Http2Stream& stream) {
  fields_.clear();
  add_fields(stream.trailers(), field_flags(stream));
  stream.trailers_submitted = true;
  PENSTOCK_CHECK(nghttp2_submit_trailer(session_.get(), stream.id, fields_.data(), fields_.size()) == 0);
}

std::ptrdiff_t Http2Server::Session::on_read_reply(Http2Stream& stream, std::size_t max, std::uint32_t& flags) {
  const bool ended = stream.reply == Http2Stream::Reply::ended;
  const bool trailers = !stream.trailers().empty();
  const std::string_view unsent = stream.unsent();
  if (unsent.empty()) {
    // The trailers, which are submitted once the data are out, end the stream.
    if (!ended || trailers || stream.trailers_submitted) return NGHTTP2_ERR_DEFERRED;
    flags |= NGHTTP2_DATA_FLAG_EOF;
    return 0;
  }
  const std::size_t size = std::min(max, unsent.size());
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (ended && size == unsent.size()) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (trailers) flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  }
  return static_cast<std::ptrdiff_t>(size);
}

int Http2Server::Session::on_send_data(Http2Stream& stream, std::string_view frame_header, std::size_t size) {
  if (output_full()) return NGHTTP2_ERR_WOULDBLOCK;
  output_.append(frame_header);
  output_.append(stream.unsent().substr(0, size));
  stream.sent(size);
  guard_.on_data_sent();
  if (stream.unsent().empty() && stream.reply == Http2Stream::Reply::ended && !stream.trailers_submitted &&
      !stream.trailers().empty()) {
    submit_trailers(stream);
  }
  return 0;
}

}  // namespace penstock::transport
