// What Http2Server's session does with what nghttp2 reports while it reads.

#include <algorithm>

#include "penstock/base/check.h"
#include "penstock/transport/http2_session.h"

namespace penstock::transport {

void Http2Server::Session::on_begin_headers(std::int32_t id, bool request) {
  heading_ = nullptr;
  list_bytes_ = 0;
  if (!request) return;  // trailers of a request say nothing that is asked for
  // Refused, not answered: an answer would have to wait for the rest of the request, and hold what there is no room
  // for.
  if (!may_hold(Http2Stream::kOverheadBytes)) {
    PENSTOCK_CHECK(nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM) == 0);
    return;
  }
  Http2Stream* stream = streams_.take();
  PENSTOCK_CHECK(nghttp2_session_set_stream_user_data(session_.get(), id, stream) == 0);
  stream->id = id;
  stream->began = now_;
  account(*stream);
  ++open_;
  ++opened_;
  guard_.on_stream();
  count(&Http2Metrics::streams);
  heading_ = current_ = stream;
}

// A list of small references to a large entry of the compression table is a hundred times as long as it was sent, and
// nghttp2 looks at all of that for as long as it is asked to.
bool Http2Server::Session::on_field(std::string_view name, std::string_view value) {
  list_bytes_ += name.size() + value.size();
  if (list_bytes_ > kMaxListFactor * options_.max_header_bytes) {
    count(&Http2Metrics::oversize_headers);
    return false;
  }
  if (heading_ == nullptr || heading_->headers_oversize) return true;
  Http2Stream& stream = *heading_;
  if (list_bytes_ > options_.max_header_bytes) {
    stream.headers_oversize = true;
    return true;
  }
  const auto keep = [&](Http2Stream::Field field) {
    stream.keep_field(field, value);
    account(stream);
  };
  using enum Http2Stream::Field;
  // The lengths differ but for two, so most fields cost one comparison.
  switch (name.size()) {
    case 5:
      if (name == ":path") keep(path);
      break;
    case 7:
      if (name == ":method") keep(method);
      break;
    case 12:
      if (name == "content-type")
        keep(content_type);
      else if (name == "grpc-timeout")
        keep(grpc_timeout);
      break;
    case 13:
      if (name == "grpc-encoding") keep(grpc_encoding);
      break;
    default: break;
  }
  return true;
}

void Http2Server::Session::on_request_headers(bool end) {
  if (heading_ == nullptr) return;
  Http2Stream& stream = *heading_;
  heading_ = nullptr;
  stream.complete = end;
  if (stream.headers_oversize) {
    count(&Http2Metrics::oversize_headers);
    stream.reply = Http2Stream::Reply::ended;
    submit_headers(stream, 431, {}, Content::none);
    return;
  }
  stream.streaming = !end && std::ranges::find(options_.streaming_paths, stream.field(Http2Stream::Field::path)) !=
                                 options_.streaming_paths.end();
  if (end || stream.streaming) make_ready(stream);
}

void Http2Server::Session::on_data(std::int32_t id, std::string_view bytes) {
  Http2Stream* stream = find(id);
  if (stream == nullptr || stream->oversize || stream->reply == Http2Stream::Reply::ended) return;
  if (stream->body_size() + bytes.size() > options_.max_body_bytes || !may_hold(bytes.size())) {
    mark_oversize(*stream);
    return;
  }
  stream->append_body(bytes);
  account(*stream);
}

void Http2Server::Session::mark_oversize(Http2Stream& stream) {
  stream.drop_body();
  account(stream);
  stream.oversize = true;
  count(&Http2Metrics::oversize_bodies);
  make_ready(stream);
}

void Http2Server::Session::on_end_of_data(std::int32_t id, bool end) {
  Http2Stream* stream = find(id);
  if (stream == nullptr) return;
  if (end) stream->complete = true;
  if (end || (stream->streaming && stream->body_size() > 0)) make_ready(*stream);
}

void Http2Server::Session::make_ready(Http2Stream& stream) {
  if (stream.ready || stream.reply == Http2Stream::Reply::ended || (stream.handed_on && !stream.streaming)) return;
  stream.ready = true;
  ready_.push_back(&stream);
}

void Http2Server::Session::hand_on() {
  for (Http2Stream* stream : ready_) {
    stream->ready = false;
    stream->handed_on = true;
    requests_.push_back(stream->request(now_));
  }
  ready_.clear();
}

bool Http2Server::Session::may_hold(std::size_t size) noexcept {
  const ByteAccount::Answer answer = account_.may_take(size);
  if (answer == ByteAccount::Answer::loop_full) count(&Http2Metrics::held_bytes_refused);
  return answer == ByteAccount::Answer::yes;
}

void Http2Server::Session::account(Http2Stream& stream) noexcept {
  const std::size_t held = stream.held_bytes();
  account_.change(stream.accounted_bytes, held);
  stream.accounted_bytes = held;
}

void Http2Server::Session::account_output() noexcept {
  account_.change(accounted_output_, output_.size());
  accounted_output_ = output_.size();
}

bool Http2Server::Session::on_idle_frame() noexcept {
  if (guard_.on_idle_frame(now_)) return true;
  flooded(&Http2Metrics::cut_for_idle_frames);
  return false;
}

bool Http2Server::Session::on_reset(std::int32_t id) noexcept {
  const Http2Stream* stream = find(id);
  if (stream != nullptr && !stream->complete && stream->reply == Http2Stream::Reply::none) {
    count(&Http2Metrics::aborted_requests);
    if (guard_.on_abort(now_)) return true;
    flooded(&Http2Metrics::cut_for_aborts);
    return false;
  }
  const bool answered = stream == nullptr || stream->reply == Http2Stream::Reply::ended;
  count(answered ? &Http2Metrics::resets_after_answer : &Http2Metrics::resets_before_answer);
  if (guard_.on_reset(now_)) return true;
  flooded(&Http2Metrics::cut_for_idle_frames);
  return false;
}

void Http2Server::Session::on_close(std::int32_t id) {
  Http2Stream* stream = find(id);
  if (stream == nullptr) return;
  if ((stream->handed_on || stream->ready) && stream->reply != Http2Stream::Reply::ended) resets_.push_back(id);
  if (heading_ == stream) heading_ = nullptr;
  current_ = nullptr;
  closed_.push_back(stream);
  --open_;
}

}  // namespace penstock::transport
