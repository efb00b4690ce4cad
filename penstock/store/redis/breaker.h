#pragma once

#include <cstdint>

#include "penstock/base/instant.h"

namespace penstock::store::redis {

// Keeps a server that does not answer from being waited for by everybody. Trips after kTimeouts deadlines in a row,
// over kLeastSpan at least, that passed without any reply in time; then one probe at a time is sent, and the first that
// is answered promptly closes it again. Threading: Value.
class Breaker {
 public:
  static constexpr std::uint32_t kTimeouts = 5;
  static constexpr Nanoseconds kLeastSpan = std::chrono::milliseconds{20};  // a hiccup is waited for
  static constexpr Nanoseconds kProbeInterval = std::chrono::milliseconds{20};

  // `prompt`: what a reply may take.
  explicit Breaker(Nanoseconds prompt) noexcept : prompt_{prompt} {}

  [[nodiscard]] bool open() const noexcept { return open_; }

  // Whether that tripped it.
  bool note_timeout(Nanoseconds elapsed) noexcept {
    if (open_) return false;
    if (timeouts_++ == 0) first_timeout_ = elapsed;
    if (timeouts_ < kTimeouts || elapsed - first_timeout_ < kLeastSpan) return false;
    open_ = true;
    next_probe_ = elapsed;
    return true;
  }
  void note_answer(Nanoseconds waited) noexcept {
    if (waited <= prompt_) timeouts_ = 0;
  }

  // Whether a probe is due; the owner sends one unless another is under way.
  [[nodiscard]] bool probe_due(Nanoseconds elapsed) const noexcept { return open_ && elapsed >= next_probe_; }
  void probe_sent(Nanoseconds elapsed) noexcept { next_probe_ = elapsed + kProbeInterval; }
  void probe_answered(Nanoseconds waited) noexcept {
    if (waited <= prompt_) reset();
  }

  void reset() noexcept {
    open_ = false;
    timeouts_ = 0;
  }

 private:
  Nanoseconds prompt_;
  bool open_ = false;
  std::uint32_t timeouts_ = 0;
  Nanoseconds first_timeout_{0};
  Nanoseconds next_probe_{0};
};

}  // namespace penstock::store::redis
