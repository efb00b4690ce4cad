#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "penstock/base/random.h"
#include "penstock/store/store.h"

namespace penstock::store::testing {

enum class Fault : std::uint8_t {
  none,    // answered as the store behind answers
  delay,   // executed now, answered when told
  refuse,  // not executed; unanswered at once
  lose,    // executed, but the answer is lost; unanswered when told
};

// A store that does wrong, in front of one that does right: by a script or a seed it answers groups late, not at all,
// or not even executes them. What it does is decided for one group after the other, in the order of submission.
//
// Threading: Loop-owned. Ownership: borrows the store behind, which must answer in place, and `late` until all delayed
// groups are answered.
class FaultyStore final : public Store {
 public:
  static constexpr std::size_t kMaxDelayed = 4096;  // beyond, a group is refused as overloaded

  // The faults of the first groups; what comes after them gets `rest`.
  FaultyStore(Store& behind, std::vector<Fault> script, Fault rest = Fault::none);

  // Each fault with equal chance.
  FaultyStore(Store& behind, std::uint64_t seed);

  void submit(const Batch& batch, Instant now, LateDecisions& late) override;

  void fail_with(algorithm::Cause cause) noexcept { cause_ = cause; }  // of refused and lost groups; at first timeout

  // Answers the delayed group at `index` of those that wait, oldest first. Requires: index < delayed().
  void answer(std::size_t index);
  void answer_all();
  [[nodiscard]] std::size_t delayed() const noexcept { return delayed_.size(); }

 private:
  struct Delayed {
    Ticket ticket;
    LateDecisions* late;
    std::vector<algorithm::Decision> decisions;
  };

  Fault next_fault();
  void submit_group(const Batch& one, Instant now, LateDecisions& late);

  Store& behind_;
  std::vector<Fault> script_;
  const Fault rest_;
  std::size_t groups_seen_ = 0;
  Random random_{0};
  bool seeded_ = false;
  algorithm::Cause cause_ = algorithm::Cause::timeout;
  std::deque<Delayed> delayed_;
};

}  // namespace penstock::store::testing
