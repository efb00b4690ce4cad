#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/instant.h"
#include "penstock/transport/message.h"
#include "penstock/transport/patience.h"

namespace penstock::transport {

// One stream of a server connection: the request as it comes in and what of its reply waits for the peer's window.
// Ownership: reused for later streams, with the memory of its strings.
class Http2Stream {
 public:
  // What an open stream costs beside its texts, here and in nghttp2; measured as resident memory, rounded up.
  static constexpr std::size_t kOverheadBytes = 800;

  enum class Reply : std::uint8_t { none, begun, ended };

  // The header fields that a Request shows.
  enum class Field : std::uint8_t { method, path, content_type, grpc_timeout, grpc_encoding };

  void keep_field(Field field, std::string_view value);
  [[nodiscard]] std::string_view field(Field field) const noexcept;
  [[nodiscard]] Request request(Instant now) const noexcept;

  void append_body(std::string_view bytes) { body_.append(bytes); }
  void drop_body() noexcept;
  void consume_body(std::size_t size);
  [[nodiscard]] std::size_t body_size() const noexcept { return body_.size() - consumed_; }
  // All bytes that are held of the request, and of the reply for a window to open.
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return kOverheadBytes + fields_text_.size() + body_.size() + kept_data_.size();
  }

  // The part of the reply that was not handed to nghttp2: views of the caller's memory while it lends it, else of ours.
  [[nodiscard]] std::string_view unsent() const noexcept { return unsent_; }
  [[nodiscard]] std::span<const Header> trailers() const noexcept { return trailers_; }
  void lend_data(std::string_view bytes) noexcept { unsent_ = bytes; }
  void lend_trailers(std::span<const Header> trailers) noexcept { trailers_ = trailers; }
  void sent(std::size_t size) noexcept { unsent_.remove_prefix(size); }
  void append_data(std::string_view bytes);  // behind what `keep_lent` kept
  void keep_lent();                          // copies what is lent and not sent yet

  // As new; each string keeps its memory up to `retained` bytes.
  void forget(std::size_t retained);

  std::int32_t id = 0;  // 0: not in use
  Instant began;
  std::size_t accounted_bytes = 0;  // of held_bytes()
  bool streaming = false;           // handed on as it comes
  bool ready = false;               // to be handed on at the end of this `receive`
  bool handed_on = false;           // at least once
  bool complete = false;
  bool oversize = false;
  bool headers_oversize = false;
  bool trailers_submitted = false;
  Reply reply = Reply::none;
  Wait request_wait;
  Wait reply_wait;

 private:
  static constexpr std::size_t kFields = 5;

  struct Part {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };

  std::string fields_text_;
  Part parts_[kFields];
  std::string body_;
  std::size_t consumed_ = 0;

  std::string_view unsent_;
  std::span<const Header> trailers_;
  std::string kept_data_;
  std::string kept_trailers_text_;
  std::vector<Header> kept_trailers_;
};

// The Http2Streams of one connection, made as they are needed and reused: as many as were ever open at once, and
// beyond kMaxWarm idle ones without memory of their own. Threading: Loop-owned.
class Http2StreamPool {
 public:
  [[nodiscard]] Http2Stream* take();
  // Requires: `take` gave it. What it showed is gone.
  void give_back(Http2Stream* stream);

  // Gives back all that are idle. Requires: none is in use.
  void trim();

  // All, the idle ones too.
  [[nodiscard]] std::span<const std::unique_ptr<Http2Stream>> all() const noexcept { return all_; }

 private:
  static constexpr std::size_t kMaxWarm = 1024;        // Envoy's limit of open requests by default
  static constexpr std::size_t kRetainedBytes = 1024;  // of each string of a stream

  std::vector<std::unique_ptr<Http2Stream>> all_;
  std::vector<Http2Stream*> idle_;
};

}  // namespace penstock::transport
