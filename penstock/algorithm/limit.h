#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "penstock/base/error.h"
#include "penstock/base/hash.h"
#include "penstock/base/instant.h"

namespace penstock::algorithm {

// A closed set: each is a case of the switches in algorithm.cc, and a word of rule files.
// The numbers are part of a counter's identity and never change their meaning.
//   fixed_window    so much in each aligned window
//   gcra, token_bucket, leaky_bucket   a burst at once and an even refill, three names of one implementation; a
//                   leaky_bucket may let callers wait instead of refusing them (max_wait)
//   sliding_window  the former window counts in proportion to what of it is still within reach
//   sliding_log     every charge is remembered for as long as it counts
enum class Algorithm : std::uint8_t {
  fixed_window = 0,
  gcra = 1,
  sliding_window = 2,
  sliding_log = 3,
  token_bucket = 4,
  leaky_bucket = 5,
};

[[nodiscard]] std::string_view to_string(Algorithm algorithm) noexcept;

// Aligned windows: fixed_window and sliding_window.
[[nodiscard]] constexpr bool is_window(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::fixed_window || algorithm == Algorithm::sliding_window;
}
[[nodiscard]] constexpr bool is_log(Algorithm algorithm) noexcept { return algorithm == Algorithm::sliding_log; }
// Buckets: gcra, token_bucket, leaky_bucket.
[[nodiscard]] constexpr bool is_bucket(Algorithm algorithm) noexcept {
  return !is_window(algorithm) && !is_log(algorithm);
}

// A second, faster rate that must hold as well; both are charged, or neither.
struct PeakOptions {
  std::uint32_t amount = 0;  // at least 1
  std::int64_t window_seconds = 1;
  std::uint32_t burst = 0;  // at least 1
};

struct LimitOptions {
  Algorithm algorithm = Algorithm::fixed_window;
  std::uint32_t amount = 0;         // cost units per window; buckets: at least 1, refilled evenly over the window
  std::int64_t window_seconds = 1;  // 1 .. Limit::kMaxWindowSeconds
  std::uint32_t burst = 0;          // buckets: cost units admitted at once from idle, at least 1; others ignore it
  bool count_refused = false;       // a refused cost is debited as well (see `apply`); envoyproxy/ratelimit does so
  bool spread_windows = false;  // fixed_window, sliding_window: each counter's windows begin at an offset of its own
  std::optional<PeakOptions> peak = std::nullopt;  // buckets
  Nanoseconds max_wait{0};  // leaky_bucket: how long a caller that can wait may be held back, 0 to Limit::kMaxWait
};

// How a bucket counts time and cost; see Limit.
struct Ticks {
  std::int64_t per_second = 0;
  std::int64_t per_cost = 0;
  std::int64_t per_burst = 0;
  std::int64_t per_nanosecond = 0;  // 0: not whole

  friend bool operator==(const Ticks&, const Ticks&) = default;
};

// How much is allowed in what time, with everything that a decision needs computed beforehand. A Limit that exists is
// valid: no decision on it overflows, divides by zero or drifts.
//
// A rate of R units in W seconds is kept exactly (docs/decisions/0002-ticks.md): time is counted in *ticks* that the
// limit chooses. With g = gcd(R, W), one second is (R/g)j ticks and one cost unit is (W/g)j ticks. j is the largest
// number that keeps thirty years and a full burst below 2^62 ticks and, where there is one, that makes a nanosecond a
// whole number of ticks; then instants convert without rounding. A peak has ticks of its own.
//
// Threading: Value. Cost: 96 bytes, of which a limit without a peak reads the first 64; no allocation.
class Limit {
 public:
  static constexpr std::int64_t kMaxWindowSeconds = 1'073'741'823;  // 34 years: any uint32 burst still fits
  static constexpr Nanoseconds kMaxWait = std::chrono::hours{24};

  // Errors: invalid_argument, the message names the value and the accepted range.
  [[nodiscard]] static Result<Limit> create(const LimitOptions& options);

  // The limit of envoyproxy/ratelimit: aligned window, refused cost counts.
  // Requires: 1 <= window_seconds <= kMaxWindowSeconds.
  [[nodiscard]] static Limit original_window(std::uint32_t amount, std::int64_t window_seconds) noexcept;

  [[nodiscard]] Algorithm algorithm() const noexcept { return algorithm_; }
  [[nodiscard]] bool is_window() const noexcept { return algorithm::is_window(algorithm_); }
  [[nodiscard]] bool is_log() const noexcept { return algorithm::is_log(algorithm_); }
  [[nodiscard]] bool is_bucket() const noexcept { return algorithm::is_bucket(algorithm_); }

  // How many words of a State this limit uses: 1 or 2.
  [[nodiscard]] int state_words() const noexcept {
    return algorithm_ == Algorithm::sliding_window || is_log() || has_peak() ? 2 : 1;
  }
  // A state of one word, in the clock's own time: most limits.
  [[nodiscard]] bool is_plain() const noexcept { return plain_; }
  [[nodiscard]] bool has_peak() const noexcept { return has_peak_; }
  [[nodiscard]] bool spreads_windows() const noexcept { return spread_windows_; }
  [[nodiscard]] Nanoseconds max_wait() const noexcept { return max_wait_; }
  [[nodiscard]] bool counts_refused() const noexcept { return count_refused_; }
  [[nodiscard]] std::uint32_t amount() const noexcept { return amount_; }
  [[nodiscard]] std::int64_t window_seconds() const noexcept { return window_seconds_; }

  // How much earlier than the epoch's the windows of this counter begin, 0 to just below a window; 0 unless they are
  // spread. Whoever keeps the counter hands the algorithm instants that are later by this offset, and takes it off
  // those that come back. It follows from the counter's hash, so it changes with the hash's key.
  [[nodiscard]] Nanoseconds window_offset(const Hash128& counter) const noexcept;

  // The largest cost that a fresh counter admits: the burst (with a peak the lesser of both), or the amount.
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

  // Buckets only. `peak_ticks` is all zero without a peak.
  [[nodiscard]] const Ticks& ticks() const noexcept { return ticks_; }
  [[nodiscard]] const Ticks& peak_ticks() const noexcept { return peak_ticks_; }

  // 11 bits that a store keeps beside the state: two limits where they are equal read each other's states, but for one
  // in 256 whose scales only seem so. Where they differ the store calls `rebuild`.
  [[nodiscard]] std::uint16_t scale_check() const noexcept { return scale_check_; }

  // The upper three of these, which say what kind of state it is: the algorithm + 1; a bucket with a peak: kPeakKind.
  static constexpr int kPeakKind = 7;
  [[nodiscard]] std::uint8_t state_kind() const noexcept { return static_cast<std::uint8_t>(scale_check_ >> 8); }

  friend bool operator==(const Limit&, const Limit&) = default;

 private:
  Limit() = default;
  [[nodiscard]] std::uint16_t check_of(std::uint64_t a, std::uint64_t b) const noexcept;
  [[nodiscard]] std::uint16_t window_scale() const noexcept;

  Ticks ticks_;
  std::int64_t window_seconds_ = 1;
  Nanoseconds max_wait_{0};
  std::uint32_t amount_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint16_t scale_check_ = 0;
  Algorithm algorithm_ = Algorithm::fixed_window;
  bool count_refused_ = false;
  bool spread_windows_ = false;
  bool has_peak_ = false;
  bool plain_ = true;
  Ticks peak_ticks_;
};

static_assert(sizeof(Limit) <= 96 && std::is_trivially_copyable_v<Limit>);

}  // namespace penstock::algorithm
