#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

namespace penstock::store::redis {

// RESP2, the protocol of Redis and Valkey (redis.io/docs/latest/develop/reference/protocol-spec).

// Appends one command as an array of bulk strings.
void append_command(std::string& out, std::span<const std::string_view> parts);

template <class... Parts>
void append_command(std::string& out, const Parts&... parts) {
  const std::string_view list[] = {std::string_view{parts}...};
  append_command(out, std::span<const std::string_view>{list});
}

// A number as the part of a command.
class Decimal {
 public:
  explicit Decimal(std::int64_t value) noexcept;
  operator std::string_view() const noexcept {
    return {digits_, size_};
  }  // NOLINT(google-explicit-constructor): it is a text

 private:
  char digits_[20];
  std::size_t size_;
};

// One reply. Threading: Value.
struct Reply {
  enum class Kind : std::uint8_t { nil, integer, text, error, list };

  Kind kind = Kind::nil;
  std::int64_t integer = 0;
  std::string text;  // of text and error
  std::vector<std::unique_ptr<Reply>> elements;

  [[nodiscard]] bool is_error() const noexcept { return kind == Kind::error; }
  // An error's first word: "NOSCRIPT", "MOVED", "ERR".
  [[nodiscard]] std::string_view error_code() const noexcept;
};

// Cuts replies out of bytes, with hiredis' reader. Threading: Loop-owned.
class ReplyReader {
 public:
  static constexpr std::size_t kMaxBufferedBytes = std::size_t{4} * 1024 * 1024;
  static constexpr int kMaxElements = 65'536;  // of one list

  ReplyReader();
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // False where the bytes are no RESP, or one reply is larger than kMaxBufferedBytes; then the connection is of no
  // more use.
  [[nodiscard]] bool feed(std::string_view bytes);
  // The next whole reply; nothing until more bytes came, or after what is no RESP (see `broken`).
  [[nodiscard]] std::unique_ptr<Reply> next();
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  redisReader* reader_;
  std::size_t unread_ = 0;  // bytes since the last whole reply, about
  bool broken_ = false;
};

}  // namespace penstock::store::redis
