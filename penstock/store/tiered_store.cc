#include "penstock/store/tiered_store.h"

#include <algorithm>

#include "penstock/base/check.h"

namespace penstock::store {

using algorithm::Cause;
using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;

// What one store is asked of a batch.
struct TieredStore::Lane {
  Store* store = nullptr;
  std::vector<Group> groups;
  std::vector<Charge> charges;
  std::vector<Decision> decisions;
  std::vector<std::size_t> home;  // of each charge in the batch
};

// A group in several parts, with all it takes to ask again after its caller is gone.
struct TieredStore::Divided {
  struct Piece {
    std::uint8_t store = 0;
    std::uint32_t part = 0;
    std::vector<std::uint32_t> charges;
  };
  enum class Phase : std::uint8_t { look, node, decide, charge };

  Group group;
  LateDecisions* late = nullptr;
  Instant asked;
  Phase phase = Phase::decide;
  std::vector<Charge> charges;
  std::deque<algorithm::Limit> limits;
  std::deque<OwnedNames> names;
  std::vector<Decision> decisions;
  std::vector<Piece> pieces;
  std::vector<bool> chosen;  // charges that the last round is for
  std::size_t waiting = 0;
  bool within_submit = false;
  bool done = false;
};

// Takes the answers to what was given back.
class TieredStore::Ignored final : public LateDecisions {
 public:
  void on_decided(const Ticket&, std::span<const Decision>) override {}
};

TieredStore::TieredStore(Store& node, std::span<Store* const> shared) : ignored_{std::make_unique<Ignored>()} {
  PENSTOCK_CHECK(shared.size() <= kMaxStores);
  lanes_.resize(1 + shared.size());
  lanes_[kNode].store = &node;
  for (std::size_t i = 0; i < shared.size(); ++i) lanes_[1 + i].store = shared[i];
}

TieredStore::~TieredStore() = default;

void TieredStore::submit(const Batch& batch, Instant now, LateDecisions& late) {
  now_ = now;
  for (Lane& lane : lanes_) {
    lane.groups.clear();
    lane.charges.clear();
    lane.home.clear();
  }
  std::size_t next = 0;
  for (const Group& group : batch.groups) {
    const auto charges = batch.charges.subspan(next, group.charge_count);
    const Charge& first = charges.front();
    const auto elsewhere = [&](const Charge& charge) {
      return charge.store != first.store ||
             (group.mode != GroupMode::each &&
              lanes_[charge.store].store->part_of(charge) != lanes_[first.store].store->part_of(first));
    };
    if (std::ranges::any_of(charges.subspan(1), elsewhere)) {
      divide(group, charges, batch.decisions.subspan(next, group.charge_count), late);
    } else {
      Lane& lane = lanes_[first.store];
      lane.groups.push_back(group);
      lane.charges.insert(lane.charges.end(), charges.begin(), charges.end());
      for (std::size_t i = 0; i < charges.size(); ++i) lane.home.push_back(next + i);
    }
    next += group.charge_count;
  }
  for (Lane& lane : lanes_) {
    if (lane.groups.empty()) continue;
    lane.decisions.assign(lane.charges.size(), {});
    lane.store->submit({.groups = lane.groups, .charges = lane.charges, .decisions = lane.decisions}, now, late);
    for (std::size_t i = 0; i < lane.home.size(); ++i) batch.decisions[lane.home[i]] = lane.decisions[i];
  }
}

void TieredStore::divide(const Group& group, std::span<const Charge> charges, std::span<Decision> decisions,
                         LateDecisions& late) {
  if (divided_groups_.size() - free_.size() >= kMaxDivided) {
    std::ranges::fill(decisions, Decision{.outcome = Outcome::unanswered, .cause = Cause::overloaded});
    return;
  }
  divided_.add();
  if (free_.empty()) {
    divided_groups_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(divided_groups_.size() - 1));
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Divided& divided = divided_groups_[number];
  divided = Divided{};
  divided.group = group;
  divided.late = &late;
  divided.asked = now_;
  divided.within_submit = true;
  take_apart(charges, divided);
  const bool singly = group.mode == GroupMode::each || group.verb != Verb::decide;
  divided.phase = singly                                   ? Divided::Phase::charge
                  : group.mode == GroupMode::refused_alone ? Divided::Phase::look
                                                           : Divided::Phase::node;
  go_on(number);
  divided.within_submit = false;
  if (divided.done) {
    std::ranges::copy(divided.decisions, decisions.begin());
    free_.push_back(number);
  } else {
    std::ranges::fill(decisions, Decision{.outcome = Outcome::pending});
  }
}

// Keeps the charges, and sorts them by who has them.
void TieredStore::take_apart(std::span<const Charge> charges, Divided& divided) {
  divided.decisions.assign(charges.size(), {});
  divided.chosen.assign(charges.size(), true);
  divided.charges.reserve(charges.size());
  for (std::uint32_t i = 0; i < charges.size(); ++i) {
    Charge& charge = divided.charges.emplace_back(charges[i]);
    charge.limit = &divided.limits.emplace_back(*charge.limit);
    if (charge.names != nullptr) charge.names = &divided.names.emplace_back(*charge.names, *charge.limit, now_);
    const std::uint32_t part = lanes_[charge.store].store->part_of(charge);
    const auto same = [&](const Divided::Piece& piece) { return piece.store == charge.store && piece.part == part; };
    auto piece = std::ranges::find_if(divided.pieces, same);
    if (piece == divided.pieces.end()) {
      piece = divided.pieces.insert(piece, {.store = charge.store, .part = part, .charges = {}});
    }
    piece->charges.push_back(i);
  }
}

// Asks what the phase asks, of the chosen charges; goes on where everything is answered in place.
void TieredStore::go_on(std::uint32_t number) {
  Divided& divided = divided_groups_[number];
  Verb verb = divided.group.verb;
  GroupMode mode = divided.group.mode;
  if (divided.phase == Divided::Phase::look) verb = Verb::look;
  if (divided.phase == Divided::Phase::look || divided.phase == Divided::Phase::charge) mode = GroupMode::each;
  ++divided.waiting;  // until all are asked
  for (std::uint32_t part = 0; part < divided.pieces.size(); ++part) {
    const bool of_node = divided.pieces[part].store == kNode;
    if (divided.phase == Divided::Phase::node && !of_node) continue;
    if (divided.phase == Divided::Phase::decide && of_node) continue;
    ask(number, part, verb, mode);
  }
  if (--divided.waiting > 0) return;
  settle(divided);
  finish(number);
}

void TieredStore::ask(std::uint32_t number, std::uint32_t part, Verb verb, GroupMode mode) {
  Divided& divided = divided_groups_[number];
  const Divided::Piece& piece = divided.pieces[part];
  std::vector<Charge> charges;
  for (const std::uint32_t i : piece.charges) {
    if (divided.chosen[i]) charges.push_back(divided.charges[i]);
  }
  if (charges.empty()) return;
  Group group = divided.group;
  group.charge_count = static_cast<std::uint32_t>(charges.size());
  group.verb = verb;
  group.mode = mode;
  group.ticket = {.request = number, .first_decision = part};
  std::vector<Decision> decisions(charges.size());
  ++divided.waiting;
  lanes_[piece.store].store->submit({.groups = {&group, 1}, .charges = charges, .decisions = decisions}, now_, *this);
  if (decisions.front().outcome != Outcome::pending) take(divided, part, decisions);
}

void TieredStore::take(Divided& divided, std::uint32_t part, std::span<const Decision> decisions) {
  std::size_t next = 0;
  for (const std::uint32_t i : divided.pieces[part].charges) {
    if (divided.chosen[i]) divided.decisions[i] = decisions[next++];
  }
  --divided.waiting;
}

void TieredStore::on_decided(const Ticket& ticket, std::span<const Decision> decisions) {
  const auto number = static_cast<std::uint32_t>(ticket.request);
  Divided& divided = divided_groups_[number];
  take(divided, ticket.first_decision, decisions);
  if (divided.waiting > 0) return;
  settle(divided);
  finish(number);
}

namespace {

bool any(std::span<const Decision> decisions, auto holds) { return std::ranges::any_of(decisions, holds); }

bool unanswered(const Decision& decision) { return decision.outcome == Outcome::unanswered; }

}  // namespace

// What the answers of a phase come to.
void TieredStore::settle(Divided& divided) {
  const auto vetoes = [&](std::size_t i) { return !divided.charges[i].observer && divided.decisions[i].refused(); };
  bool refused = false;
  for (std::size_t i = 0; i < divided.charges.size(); ++i) refused = refused || vetoes(i);
  const bool lost = any(divided.decisions, unanswered);
  switch (divided.phase) {
    case Divided::Phase::look:
      if (lost) break;
      divided.phase = Divided::Phase::charge;
      for (std::size_t i = 0; i < divided.charges.size(); ++i) divided.chosen[i] = !refused || vetoes(i);
      return;
    case Divided::Phase::node:
      if (!refused) {
        divided.phase = Divided::Phase::decide;
        return;
      }
      report_fresh(divided);
      break;
    case Divided::Phase::decide:
      if (!refused && !lost) break;
      give_back_all(divided);
      break;
    case Divided::Phase::charge: break;
  }
  divided.done = true;
}

// The charges that nobody was asked for.
void TieredStore::report_fresh(Divided& divided) {
  for (std::size_t i = 0; i < divided.charges.size(); ++i) {
    if (divided.charges[i].store != kNode) divided.decisions[i].remaining = divided.charges[i].limit->capacity();
  }
}

void TieredStore::give_back_all(Divided& divided) {
  for (std::size_t i = 0; i < divided.charges.size(); ++i) {
    if (divided.decisions[i].charged && !divided.decisions[i].refused()) give_back(divided, i);
  }
}

void TieredStore::give_back(Divided& divided, std::size_t i) {
  given_back_.add();
  Charge& charge = divided.charges[i];
  charge.charged_at = divided.asked;
  const Group group = {.charge_count = 1, .verb = Verb::refund, .mode = GroupMode::each, .ticket = {}};
  Decision refund;
  lanes_[charge.store].store->submit({.groups = {&group, 1}, .charges = {&charge, 1}, .decisions = {&refund, 1}}, now_,
                                     *ignored_);
  Decision& decision = divided.decisions[i];
  decision.charged = false;
  const std::uint64_t remaining = decision.remaining + charge.cost;
  decision.remaining = static_cast<std::uint32_t>(std::min<std::uint64_t>(remaining, charge.limit->capacity()));
}

void TieredStore::finish(std::uint32_t number) {
  Divided& divided = divided_groups_[number];
  if (!divided.done) return go_on(number);
  if (divided.within_submit) return;
  const std::vector<Decision> decisions = std::move(divided.decisions);
  const Ticket ticket = divided.group.ticket;
  LateDecisions& late = *divided.late;
  free_.push_back(number);
  late.on_decided(ticket, decisions);
}

}  // namespace penstock::store
