#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "penstock/metrics/counter.h"
#include "penstock/store/denied_table.h"
#include "penstock/store/store.h"

namespace penstock::store {

struct DeniedOptions {
  // How long a refusal is repeated at most, counted from when it was asked for: the bound for what was given back
  // elsewhere meanwhile. Zero: refusals of limits that do not count what they refuse are not kept.
  Nanoseconds longest = std::chrono::seconds{1};
  // Whether windows that count what they refuse are kept too, each to its end, whatever the cost, as
  // LOCAL_CACHE_SIZE_IN_BYTES makes envoyproxy/ratelimit do. What is answered so is not counted.
  bool original_windows = false;
};

// A remote store behind a cache of its refusals. Who was refused is refused for as long as the store said, without
// asking it: attack traffic costs the store nothing. Kept are refusals of charges that stand alone or in a group of
// all_or_nothing; a group is refused when one of its charges is. Refunds through this store clear their counter first.
//
// Bound: a refusal may be repeated for `longest` after another node gave back, or raised the limit; never longer than
// the store told. Nothing is admitted that the store would refuse.
//
// Threading: Loop-owned; the table is shared by the loops of a node. Ownership: borrows the store behind.
class DeniedStore final : public Store, private LateDecisions {
 public:
  DeniedStore(Store& behind, std::shared_ptr<DeniedTable> table, const DeniedOptions& options);
  ~DeniedStore() override;
  DeniedStore(const DeniedStore&) = delete;
  DeniedStore& operator=(const DeniedStore&) = delete;

  void submit(const Batch& batch, Instant now, LateDecisions& late) override;
  [[nodiscard]] std::uint32_t part_of(const Charge& charge) const override { return behind_.part_of(charge); }

  // Charges that were answered from the cache, and refusals that were kept.
  [[nodiscard]] const metrics::Counter& hits() const noexcept { return hits_; }
  [[nodiscard]] const metrics::Counter& kept() const noexcept { return kept_; }

 private:
  struct Watched;
  struct Passed;

  [[nodiscard]] bool may_keep(const Group& group, const Charge& charge) const noexcept;
  [[nodiscard]] std::uint64_t check_of(const Charge& charge) const noexcept;
  [[nodiscard]] bool answer(const Group& group, std::span<const Charge> charges,
                            std::span<algorithm::Decision> decisions);
  [[nodiscard]] bool find(const Group& group, const Charge& charge, algorithm::Decision& decision);
  void pass_on(const Group& group, std::span<const Charge> charges, std::span<const algorithm::Decision> known,
               std::size_t home, LateDecisions& late);
  void watch(const Group& group, const Charge& charge, std::uint32_t place, Passed& passed);
  std::span<const algorithm::Decision> complete(Passed& passed, std::span<const algorithm::Decision> decisions);
  void on_decided(const Ticket& ticket, std::span<const algorithm::Decision> decisions) override;
  void learn(const Passed& passed, std::span<const algorithm::Decision> decisions);

  Store& behind_;
  std::shared_ptr<DeniedTable> table_;
  DeniedOptions options_;
  metrics::Counter hits_;
  metrics::Counter kept_;
  Instant now_;
  std::deque<Passed> passed_;
  std::vector<std::uint32_t> free_;

  // Of the batch at hand.
  std::vector<Group> groups_;
  std::vector<Charge> charges_;
  std::vector<algorithm::Decision> decisions_;
  std::vector<std::size_t> home_;
  std::vector<std::uint32_t> numbers_;  // by group
};

}  // namespace penstock::store
