#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "penstock/base/instant.h"

namespace penstock::algorithm {

// What is asked of a counter.
//   decide  admit the cost or refuse it, all or nothing; cost 0 only looks
//   look    say what `decide` would say, change nothing
//   refund  give a cost back; clamped at a fresh counter, and dropped where it belongs to a window that is over
//   debit   charge a cost that was spent already, whatever remains; clamped at an empty bucket or log, counted in full
//           by a window
enum class Verb : std::uint8_t { decide, look, refund, debit };

enum class Outcome : std::uint8_t {
  allowed,
  denied,      // not now: passes after `retry_after` if nobody else comes
  never,       // the cost is above what a fresh counter admits; waiting does not help
  pending,     // the store answers later (see store/store.h)
  unanswered,  // the store could not answer; `cause` says why
};

// Why a store could not answer.
enum class Cause : std::uint8_t {
  none,
  timeout,     // not in time; whether the cost was charged is not known
  refused,     // it is not reached, or refuses to work
  readonly,    // it is a replica
  overloaded,  // too much waits for it
  breaker,     // it did not answer several times, and is not waited for until it does
  script,      // it could not run the script that decides
};
inline constexpr std::array<std::string_view, 7> kCauses = {"none",       "timeout", "refused", "readonly",
                                                            "overloaded", "breaker", "script"};
[[nodiscard]] constexpr std::string_view to_string(Cause cause) noexcept {
  return kCauses[static_cast<std::size_t>(cause)];
}

// The answer to one charge. The five numbers have one meaning for every algorithm:
//   remaining     cost units that would be admitted at this instant, after this charge; rounded down
//   retry_after   least wait after which the same cost passes if nobody else comes; kNever for never. When allowed 0,
//                 but for a caller that accepts a wait and must hold its work back for so long
//   reset_after   least wait after which the counter is as good as fresh
//   count_before  windows only: what counted against the amount before this charge, below the saturation point exact;
//                 of a sliding window the estimate, rounded up
//   charged       whether the state was changed by this charge
//   cached        said by a cache of refusals: the store was not asked
// Threading: Value.
struct Decision {
  static constexpr Nanoseconds kNever{-1};

  Outcome outcome = Outcome::allowed;
  Cause cause = Cause::none;
  bool charged = false;
  bool cached = false;
  std::uint32_t remaining = 0;
  Nanoseconds retry_after{0};
  Nanoseconds reset_after{0};
  std::uint64_t count_before = 0;

  // Refused by the limit itself, now or for ever.
  [[nodiscard]] bool refused() const noexcept { return outcome == Outcome::denied || outcome == Outcome::never; }

  friend bool operator==(const Decision&, const Decision&) = default;
};

static_assert(sizeof(Decision) == 32 && std::is_trivially_copyable_v<Decision>);

}  // namespace penstock::algorithm
