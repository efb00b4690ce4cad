#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "penstock/store/store.h"

namespace penstock::store::testing {

// What a store must do, in the plainest words: every counter with its whole identity in a map that never forgets; a
// group is tried on a copy of the map. Shares no code with the embedded store but the algorithms. For tests alone.
// Threading: Loop-owned. Cost: copies of the whole map for each group.
class ModelStore final : public Store {
 public:
  void submit(const Batch& batch, Instant now, LateDecisions& late) override;

  [[nodiscard]] std::size_t size() const noexcept { return counters_.size(); }

 private:
  struct Kept {
    algorithm::State state;
    std::uint16_t scale_check;
    Instant fresh_at;  // rounded up to seconds, as stores keep it
    std::vector<algorithm::LogEntry> entries = {};
  };
  using Identity = std::pair<std::uint64_t, std::uint64_t>;
  using Counters = std::map<Identity, Kept>;

  static algorithm::Decision apply(Counters& counters, const Charge& charge, algorithm::Verb verb, Instant now);
  static algorithm::Decision look(Counters counters, const Charge& charge, Instant now);
  static algorithm::Decision look_with_earlier(const Counters& counters, const Group& group,
                                               std::span<const Charge> charges, const std::vector<bool>& refused,
                                               Instant now);
  void decide(const Group& group, std::span<const Charge> charges, std::span<algorithm::Decision> decisions,
              Instant now);
  void decide_refused_alone(std::span<const Charge> charges, std::span<algorithm::Decision> decisions, Instant now);

  Counters counters_;
};

}  // namespace penstock::store::testing
