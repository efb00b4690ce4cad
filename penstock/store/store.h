#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "penstock/algorithm/algorithm.h"
#include "penstock/base/hash.h"
#include "penstock/base/instant.h"

namespace penstock::store {

// The names of a counter outside of this node. A store that keeps its counters elsewhere asks for one of them while
// `submit` runs; the embedded store never does, so they are built only when needed.
class CounterNames {
 public:
  // The first 128 bits of SHA-256 over the parts of the counter's identity.
  [[nodiscard]] virtual std::array<std::uint8_t, 16> shared_identity() const = 0;

  // The same for all counters of one descriptor: a store in several parts keeps them together by it.
  [[nodiscard]] virtual std::uint64_t shared_family() const = 0;

  // Appends the key text of envoyproxy/ratelimit for the window that holds `now`; false where that text does not exist
  // for this limit, or must not be used.
  [[nodiscard]] virtual bool append_original_key(Instant now, std::string& out) const = 0;

 protected:
  ~CounterNames() = default;
};

// One counter, one limit, one cost.
struct Charge {
  Hash128 counter;                          // keyed hash of the counter's identity
  const algorithm::Limit* limit = nullptr;  // borrowed until `submit` returns
  std::uint64_t cost = 0;
  const CounterNames* names = nullptr;  // borrowed until `submit` returns; null where the store is local
  Instant charged_at = Instant::max();  // refund only: when the cost was charged; max: at `now`
  std::uint8_t store = 0;               // which of several stores keeps it (tiered_store.h); each by itself ignores it
  bool observer = false;                // shadow or candidate: never vetoes, charged only if the group passes
  bool accepts_wait = false;            // the caller holds its work back for as long as a decision says
};

// How the charges of a group depend on each other. Charges on one counter see each other's effect in every mode.
enum class GroupMode : std::uint8_t {
  each,            // every charge on its own
  all_or_nothing,  // all are charged, or, if one is refused, none
  spare_others,    // if some are refused only those are charged, the others are left alone
  refused_alone,   // if some would be refused if they came alone, only those are charged; else every charge on its own
};

// A group's way back to who asked.
struct Ticket {
  std::uint64_t request = 0;
  std::uint32_t first_decision = 0;

  friend bool operator==(const Ticket&, const Ticket&) = default;
};

// Charges that are decided as one: the next `charge_count` charges of the batch.
struct Group {
  static constexpr std::uint32_t kMaxCharges = 64;

  std::uint32_t charge_count = 0;  // 1 .. kMaxCharges; mode `each` has no upper bound
  algorithm::Verb verb = algorithm::Verb::decide;
  GroupMode mode = GroupMode::each;
  Instant deadline = Instant::max();  // from then on the answer is of no use
  Ticket ticket;
};

struct Batch {
  std::span<const Group> groups;
  std::span<const Charge> charges;           // in group order
  std::span<algorithm::Decision> decisions;  // out, one a charge
};

// Takes the decisions of groups that were not answered in place. Called on the loop that submitted them, never from
// within `submit`, once for each such group.
class LateDecisions {
 public:
  virtual void on_decided(const Ticket& ticket, std::span<const algorithm::Decision> decisions) = 0;

 protected:
  ~LateDecisions() = default;
};

// Where counters live. Each group is decided atomically with respect to all other groups on the same counters.
//
// A group that is refused (all_or_nothing) reports for each charge what that charge alone would have got, with
// `charged` false and the remaining and waits of the unchanged counter; the group passed if no charge but observers is
// denied or never. A store that cannot answer in place sets all decisions of the group to Outcome::pending and calls
// `late` when it knows; one that gave up answers Outcome::unanswered with a cause. A group that may have been executed
// is never sent again.
//
// Threading: Loop-owned; what several loops share is behind it. Ownership: borrows everything in `batch` until the call
// returns; `late` outlives the store's pending groups.
class Store {
 public:
  virtual ~Store() = default;
  // Requires: the charges of one group are of one part, but where its mode is `each`.
  virtual void submit(const Batch& batch, Instant now, LateDecisions& late) = 0;

  // The part of the store that keeps the charge's counter: groups are atomic within one. Most stores have one part.
  [[nodiscard]] virtual std::uint32_t part_of(const Charge&) const { return 0; }
};

}  // namespace penstock::store
