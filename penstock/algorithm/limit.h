#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "penstock/base/error.h"
#include "penstock/base/instant.h"

namespace penstock::algorithm {

// A closed set: each is a case of the switches in algorithm.cc, and a word of rule files.
enum class Algorithm : std::uint8_t { fixed_window = 0, gcra = 1 };

[[nodiscard]] std::string_view to_string(Algorithm algorithm) noexcept;

struct LimitOptions {
  Algorithm algorithm = Algorithm::fixed_window;
  std::uint32_t amount = 0;         // cost units per window; gcra: at least 1, refilled evenly over the window
  std::int64_t window_seconds = 1;  // 1 .. Limit::kMaxWindowSeconds
  std::uint32_t burst = 0;          // gcra: cost units admitted at once from idle, at least 1; windows ignore it
  bool count_refused = false;       // windows: a refused cost is counted as well, as envoyproxy/ratelimit does
};

// How much is allowed in what time, with everything that a decision needs computed beforehand. A Limit that exists is
// valid: no decision on it overflows, divides by zero or drifts.
//
// A rate of R units in W seconds is kept exactly (docs/decisions/0002-ticks.md): time is counted in *ticks* that the
// limit chooses. With g = gcd(R, W), one second is (R/g)j ticks and one cost unit is (W/g)j ticks. j is the largest
// number that keeps thirty years and a full burst below 2^62 ticks and, where there is one, that makes a nanosecond a
// whole number of ticks; then instants convert without rounding.
//
// Threading: Value. Cost: 64 bytes, no allocation.
class Limit {
 public:
  static constexpr std::int64_t kMaxWindowSeconds = 1'073'741'823;  // 34 years: any uint32 burst still fits

  // Errors: invalid_argument, the message names the value and the accepted range.
  [[nodiscard]] static Result<Limit> create(const LimitOptions& options);

  // The limit of envoyproxy/ratelimit: aligned window, refused cost counts.
  // Requires: 1 <= window_seconds <= kMaxWindowSeconds.
  [[nodiscard]] static Limit original_window(std::uint32_t amount, std::int64_t window_seconds) noexcept;

  [[nodiscard]] Algorithm algorithm() const noexcept { return algorithm_; }
  [[nodiscard]] bool is_window() const noexcept { return algorithm_ == Algorithm::fixed_window; }
  [[nodiscard]] bool counts_refused() const noexcept { return count_refused_; }
  [[nodiscard]] std::uint32_t amount() const noexcept { return amount_; }
  [[nodiscard]] std::int64_t window_seconds() const noexcept { return window_seconds_; }

  // The largest cost that a fresh counter admits: the burst, or a window's amount.
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

  // Continuous limits only (gcra): the chosen ticks.
  [[nodiscard]] std::int64_t ticks_per_second() const noexcept { return ticks_per_second_; }
  [[nodiscard]] std::int64_t ticks_per_cost() const noexcept { return ticks_per_cost_; }
  [[nodiscard]] std::int64_t ticks_per_burst() const noexcept { return ticks_per_burst_; }
  [[nodiscard]] std::int64_t ticks_per_nanosecond() const noexcept { return ticks_per_nanosecond_; }  // 0: not whole

  // Two limits with equal scales read each other's states. A store keeps this beside the state, and calls `rebuild`
  // where it differs.
  [[nodiscard]] std::uint16_t scale_check() const noexcept { return scale_check_; }

  friend bool operator==(const Limit&, const Limit&) = default;

 private:
  Limit() = default;

  std::int64_t ticks_per_second_ = 0;
  std::int64_t ticks_per_cost_ = 0;
  std::int64_t ticks_per_burst_ = 0;
  std::int64_t ticks_per_nanosecond_ = 0;
  std::int64_t window_seconds_ = 1;
  std::uint32_t amount_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint16_t scale_check_ = 0;
  Algorithm algorithm_ = Algorithm::fixed_window;
  bool count_refused_ = false;
};

static_assert(sizeof(Limit) <= 64 && std::is_trivially_copyable_v<Limit>);

}  // namespace penstock::algorithm
