#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "penstock/metrics/counter.h"
#include "penstock/store/owned_names.h"
#include "penstock/store/store.h"

namespace penstock::store {

// Several stores as one: Charge::store says which keeps a counter, 0 being this node's own, which answers in place.
//
// A group with charges in several stores, or in several parts of one, is not atomic any more; it is put together:
//   all_or_nothing, spare_others   what this node keeps is asked first, and if that refuses nobody else is (their
//                                  charges are reported as fresh). Else all parts decide at once, each for itself; if
//                                  one refuses or does not answer, what the others charged is given back. Until that
//                                  has arrived they count more than they should, so others may be refused, never
//                                  admitted, for it. A give-back that is lost leaves too much counted.
//   refused_alone                  all parts look first, then those are charged that the mode says: what others charge
//                                  in between is not seen, so as many may pass above a limit as come in one round trip.
//
// Threading: Loop-owned. Ownership: borrows the stores.
class TieredStore final : public Store, private LateDecisions {
 public:
  static constexpr std::uint8_t kNode = 0;
  static constexpr std::size_t kMaxStores = 16;       // beside this node's
  static constexpr std::size_t kMaxDivided = 16'384;  // groups in several parts that wait; beyond: overloaded

  TieredStore(Store& node, std::span<Store* const> shared);
  ~TieredStore() override;
  TieredStore(const TieredStore&) = delete;
  TieredStore& operator=(const TieredStore&) = delete;

  // Requires: Charge::store is below the number of stores.
  void submit(const Batch& batch, Instant now, LateDecisions& late) override;

  // Groups that were divided, and charges that were given back since another part refused.
  [[nodiscard]] const metrics::Counter& divided() const noexcept { return divided_; }
  [[nodiscard]] const metrics::Counter& given_back() const noexcept { return given_back_; }

 private:
  struct Lane;
  struct Divided;
  class Ignored;

  void divide(const Group& group, std::span<const Charge> charges, std::span<algorithm::Decision> decisions,
              LateDecisions& late);
  void take_apart(std::span<const Charge> charges, Divided& divided);
  void on_decided(const Ticket& ticket, std::span<const algorithm::Decision> decisions) override;
  void ask(std::uint32_t number, std::uint32_t part, algorithm::Verb verb, GroupMode mode);
  void take(Divided& divided, std::uint32_t part, std::span<const algorithm::Decision> decisions);
  void go_on(std::uint32_t number);
  void settle(Divided& divided);
  void finish(std::uint32_t number);
  static void report_fresh(Divided& divided);
  void give_back_all(Divided& divided);
  void give_back(Divided& divided, std::size_t charge);

  std::vector<Lane> lanes_;  // by store
  Instant now_;
  std::deque<Divided> divided_groups_;
  std::vector<std::uint32_t> free_;
  std::unique_ptr<Ignored> ignored_;
  metrics::Counter divided_;
  metrics::Counter given_back_;
};

}  // namespace penstock::store
