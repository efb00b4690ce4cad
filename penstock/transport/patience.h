#pragma once

#include <chrono>
#include <cstdint>

#include "penstock/base/instant.h"
#include "penstock/transport/output_buffer.h"

namespace penstock::transport {

// How long a peer may take for what it owes. Times run on a clock that the caller of `expire` chooses: one that stands
// still while the process does, so that neither a stalled machine nor a wall clock that is set costs a connection.
struct Patience {
  // From a request's first byte to its last; on HTTP/2 also from the connection's start to the client's SETTINGS.
  Nanoseconds request = std::chrono::seconds{10};
  Nanoseconds reply = std::chrono::seconds{30};  // for a reply to be taken
  Nanoseconds idle = std::chrono::seconds{60};   // HTTP/1: between requests
  // HTTP/2: without a request; then it is asked to end (GOAWAY). Proxies keep connections for an hour, and one that
  // opened them ahead must find them when traffic comes.
  Nanoseconds unused = std::chrono::hours{2};
};

// One thing that is waited for, over the calls of `expire`: counting begins when it is first seen to be owed.
class Wait {
 public:
  // Whether `owed` has been true for `patience`, in calls with rising `now`.
  [[nodiscard]] bool over(bool owed, Instant now, Nanoseconds patience) noexcept {
    if (!owed || !waiting_ || now < since_) {
      waiting_ = owed;
      since_ = now;
      return false;
    }
    return now - since_ >= patience;
  }

 private:
  Instant since_{};
  bool waiting_ = false;
};

// Tells when a peer has stopped taking output: less than kLeastProgress, and never all of it, within the patience.
class SlowReader {
 public:
  static constexpr std::uint64_t kLeastProgress = std::uint64_t{16} * 1024;

  [[nodiscard]] bool over(const OutputBuffer& output, Instant now, Nanoseconds patience) noexcept {
    const bool emptied = output.empty() || output.times_emptied() != emptied_;
    const bool progress = output.bytes_written() - written_ >= kLeastProgress;
    if (emptied || progress) {
      emptied_ = output.times_emptied();
      written_ = output.bytes_written();
      static_cast<void>(wait_.over(false, now, patience));
    }
    return wait_.over(!output.empty(), now, patience);
  }

 private:
  Wait wait_;
  std::uint64_t emptied_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace penstock::transport
