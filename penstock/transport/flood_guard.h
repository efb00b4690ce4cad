#pragma once

#include <cstdint>

#include "penstock/base/instant.h"

namespace penstock::transport {

// A bucket of `burst` that fills at `per_second`: what may happen at no one's cost. An earlier `now` is no time
// passing.
class Budget {
 public:
  Budget(std::uint32_t burst, std::uint32_t per_second) noexcept;

  // False when nothing is left.
  [[nodiscard]] bool spend(Instant now) noexcept;
  void earn(std::uint32_t count) noexcept;

 private:
  static constexpr std::int64_t kOne = 1'000'000'000;  // one event; filling is then `per_second` a nanosecond

  std::int64_t most_;
  std::int64_t per_nanosecond_;
  std::int64_t left_;
  Instant filled_{};
};

struct FloodLimits {
  std::uint32_t abort_burst = 10'000;
  std::uint32_t aborts_per_second = 1'000;
  std::uint32_t idle_burst = 10'000;
  std::uint32_t idle_frames_per_second = 1'000;
};

// Tells a peer in trouble from one that floods, on one HTTP/2 connection.
//   - A reset of a stream whose request was whole is what a proxy sends when its timeout passes, thousands in a second
//     when a machine stalls. The request is charged and costs what any request costs: such resets are free, one for
//     each stream.
//   - An abort is a stream that ends before its request is whole, by the peer's reset or by ours since it is malformed
//     or refused. It made us work for nothing, so there is a budget.
//   - An idle frame moves nothing: PING, SETTINGS, WINDOW_UPDATE, an empty DATA frame, a reset too many. Its budget
//   also
//     grows with the peer's work, since windows have to be opened. Frames that nghttp2 drops unread (PRIORITY, unknown
//     types, mere padding) cost less than their bytes and are not counted.
//
// Each method that takes `now` is false when the budget is spent: the peer floods. Pure. Threading: Loop-owned.
class FloodGuard {
 public:
  static constexpr std::uint32_t kIdleFramesPerStream = 2;  // a window for the stream and one for the connection
  static constexpr std::uint32_t kIdleFramesPerData = 4;    // of our DATA frames; a peer may open a window bit by bit

  explicit FloodGuard(const FloodLimits& limits) noexcept
      : aborts_{limits.abort_burst, limits.aborts_per_second},
        idle_frames_{limits.idle_burst, limits.idle_frames_per_second} {}

  void on_stream() noexcept {
    ++free_resets_;
    idle_frames_.earn(kIdleFramesPerStream);
  }
  void on_data_sent() noexcept { idle_frames_.earn(kIdleFramesPerData); }

  [[nodiscard]] bool on_abort(Instant now) noexcept { return aborts_.spend(now); }
  [[nodiscard]] bool on_idle_frame(Instant now) noexcept { return idle_frames_.spend(now); }
  // A reset of a stream that was answered, or whose request was whole.
  [[nodiscard]] bool on_reset(Instant now) noexcept;

 private:
  Budget aborts_;
  Budget idle_frames_;
  std::uint64_t free_resets_ = 0;
};

}  // namespace penstock::transport
