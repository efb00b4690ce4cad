// What Http2Server's session does with what nghttp2 reports while it reads.

#include <algorithm>

#include "penstock/base/check.h"
#include "penstock/transport/http2_session.h"

namespace penstock::transport {

void Http2Server::Session::on_begin_headers(std::int32_t id, bool request) {
  heading_ = nullptr;
  if (!request) return;  // trailers of a request say nothing that is asked for
  Http2Stream* stream = streams_.take();
  PENSTOCK_CHECK(nghttp2_session_set_stream_user_data(session_.get(), id, stream) == 0);
  stream->id = id;
  stream->began = now_;
  ++open_;
  heading_ = current_ = stream;
}

void Http2Server::Session::on_field(std::string_view name, std::string_view value) {
  if (heading_ == nullptr || heading_->headers_oversize) return;
  Http2Stream& stream = *heading_;
  stream.header_bytes += name.size() + value.size();
  if (stream.header_bytes > options_.max_header_bytes || held_bytes_ + value.size() > options_.max_held_bytes) {
    stream.headers_oversize = true;
    return;
  }
  const auto keep = [&](Http2Stream::Field field) {
    stream.keep_field(field, value);
    held_bytes_ += value.size();
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
}

void Http2Server::Session::on_request_headers(bool end) {
  if (heading_ == nullptr) return;
  Http2Stream& stream = *heading_;
  heading_ = nullptr;
  stream.complete = end;
  if (stream.headers_oversize) {
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
  if (stream->body_size() + bytes.size() > options_.max_body_bytes ||
      held_bytes_ + bytes.size() > options_.max_held_bytes) {
    mark_oversize(*stream);
    return;
  }
  stream->append_body(bytes);
  held_bytes_ += bytes.size();
}

void Http2Server::Session::mark_oversize(Http2Stream& stream) {
  const std::size_t held = stream.held_bytes();
  stream.drop_body();
  held_bytes_ -= held - stream.held_bytes();
  stream.oversize = true;
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
    requests_.push_back(stream->request());
  }
  ready_.clear();
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
