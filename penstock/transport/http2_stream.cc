#include "penstock/transport/http2_stream.h"

#include <algorithm>
#include <utility>

#include "penstock/base/check.h"

namespace penstock::transport {
namespace {

void clear(std::string& text, std::size_t retained) {
  text.clear();
  if (text.capacity() > retained) text.shrink_to_fit();
}

bool lies_in(std::string_view part, const std::string& whole) noexcept {
  return part.data() >= whole.data() && part.data() <= whole.data() + whole.size();
}

}  // namespace

void Http2Stream::keep_field(Field field, std::string_view value) {
  parts_[std::to_underlying(field)] = {.begin = static_cast<std::uint32_t>(fields_text_.size()),
                                       .size = static_cast<std::uint32_t>(value.size())};
  fields_text_.append(value);
}

std::string_view Http2Stream::field(Field field) const noexcept {
  const Part part = parts_[std::to_underlying(field)];
  return std::string_view{fields_text_}.substr(part.begin, part.size);
}

Request Http2Stream::request(Instant now) const noexcept {
  using enum Field;
  return {.stream = id,
          .method = field(method),
          .path = field(path),
          .content_type = field(content_type),
          .grpc_timeout = field(grpc_timeout),
          .grpc_encoding = field(grpc_encoding),
          .body = std::string_view{body_}.substr(consumed_),
          .age = now - began,
          .complete = complete,
          .oversize = oversize};
}

void Http2Stream::drop_body() noexcept {
  body_.clear();
  consumed_ = 0;
}

void Http2Stream::consume_body(std::size_t size) {
  consumed_ += std::min(size, body_size());
  // Moving the rest only when it is the smaller part keeps the cost of a byte constant.
  if (consumed_ >= body_.size() - consumed_) {
    body_.erase(0, consumed_);
    consumed_ = 0;
  }
}

void Http2Stream::append_data(std::string_view bytes) {
  const std::size_t sent = kept_data_.size() - unsent_.size();
  if (sent >= unsent_.size()) {
    kept_data_.erase(0, sent);
    kept_data_.append(bytes);
    unsent_ = kept_data_;
  } else {
    kept_data_.append(bytes);
    unsent_ = std::string_view{kept_data_}.substr(sent);
  }
}

void Http2Stream::keep_lent() {
  if (unsent_.empty()) {
    kept_data_.clear();
    unsent_ = kept_data_;
  } else if (!lies_in(unsent_, kept_data_)) {
    kept_data_.assign(unsent_);
    unsent_ = kept_data_;
  }
  if (trailers_submitted) trailers_ = {};
  if (trailers_.empty() || trailers_.data() == kept_trailers_.data()) return;

  std::size_t size = 0;
  for (const Header& trailer : trailers_) size += trailer.name.size() + trailer.value.size();
  kept_trailers_text_.clear();
  kept_trailers_text_.reserve(size);
  kept_trailers_.clear();
  const auto keep = [this](std::string_view text) {
    const std::size_t begin = kept_trailers_text_.size();
    kept_trailers_text_.append(text);
    return std::string_view{kept_trailers_text_}.substr(begin);
  };
  for (const Header& trailer : trailers_) {
    const std::string_view name = keep(trailer.name);
    kept_trailers_.push_back({.name = name, .value = keep(trailer.value)});
  }
  trailers_ = kept_trailers_;
}

void Http2Stream::forget(std::size_t retained) {
  clear(fields_text_, retained);
  clear(body_, retained);
  clear(kept_data_, retained);
  clear(kept_trailers_text_, retained);
  kept_trailers_.clear();
  std::ranges::fill(parts_, Part{});
  consumed_ = 0;
  unsent_ = {};
  trailers_ = {};
  id = 0;
  accounted_bytes = 0;
  streaming = ready = handed_on = complete = oversize = headers_oversize = trailers_submitted = false;
  reply = Reply::none;
  request_wait = reply_wait = {};
}

Http2Stream* Http2StreamPool::take() {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Http2Stream>());
    idle_.reserve(all_.capacity());
    return all_.back().get();
  }
  Http2Stream* stream = idle_.back();
  idle_.pop_back();
  return stream;
}

void Http2StreamPool::trim() {
  PENSTOCK_CHECK(idle_.size() == all_.size());
  idle_.clear();
  idle_.shrink_to_fit();
  all_.clear();
  all_.shrink_to_fit();
}

void Http2StreamPool::give_back(Http2Stream* stream) {
  stream->forget(idle_.size() < kMaxWarm ? kRetainedBytes : 0);
  idle_.push_back(stream);
}

}  // namespace penstock::transport
