#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/check.h"

namespace penstock::transport {

// Bytes that wait for the socket. Appending does not move what is unsent until everything was written or the part that
// was written outweighs the rest. Threading: Loop-owned.
class OutputBuffer {
 public:
  void append(std::string_view bytes) { bytes_.append(bytes); }
  void append(std::size_t count, char byte) { bytes_.append(count, byte); }

  [[nodiscard]] std::string_view unsent() const noexcept { return std::string_view{bytes_}.substr(sent_); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - sent_; }
  [[nodiscard]] bool empty() const noexcept { return sent_ == bytes_.size(); }
  // Over the buffer's life, to see whether the peer reads.
  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  [[nodiscard]] std::uint64_t times_emptied() const noexcept { return times_emptied_; }

  // Gives back what is not needed now.
  void trim() {
    if (empty()) bytes_.shrink_to_fit();
  }

  // Requires: size <= this->size().
  void written(std::size_t size) {
    PENSTOCK_CHECK(size <= this->size());
    sent_ += size;
    bytes_written_ += size;
    if (sent_ == bytes_.size()) {
      ++times_emptied_;
      bytes_.clear();
      sent_ = 0;
      if (bytes_.capacity() > kRetainedBytes) bytes_.shrink_to_fit();
    } else if (sent_ > bytes_.size() - sent_) {
      bytes_.erase(0, sent_);
      sent_ = 0;
    }
  }

 private:
  // A full read's worth of replies; what a burst took beyond it goes back.
  static constexpr std::size_t kRetainedBytes = std::size_t{256} * 1024;

  std::string bytes_;
  std::size_t sent_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t times_emptied_ = 0;
};

}  // namespace penstock::transport
