#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "penstock/base/check.h"
#include "penstock/base/instant.h"
#include "penstock/store/store.h"

namespace penstock::store::redis {

// Things by number that are made again and again: a number is given out anew once it was given back, with whatever the
// thing has kept. Threading: Loop-owned.
template <class Thing>
class Slots {
 public:
  [[nodiscard]] std::uint32_t take() {
    if (!free_.empty()) {
      const std::uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    things_.emplace_back();
    return static_cast<std::uint32_t>(things_.size() - 1);
  }
  void give_back(std::uint32_t number) { free_.push_back(number); }

  [[nodiscard]] Thing& operator[](std::uint32_t number) { return things_[number]; }
  [[nodiscard]] std::size_t in_use() const noexcept { return things_.size() - free_.size(); }
  [[nodiscard]] std::size_t ever() const noexcept { return things_.size(); }

 private:
  std::deque<Thing> things_;
  std::vector<std::uint32_t> free_;
};

// Groups that wait for the store. A group is answered once: when all its charges are decided, or at its deadline with
// what was decided by then. Its number stays taken until no reply can come for it any more.
// Threading: Loop-owned.
class PendingGroups {
 public:
  // `most`: how many may wait at once.
  explicit PendingGroups(std::size_t most) : most_{most} {}

  [[nodiscard]] bool full() const noexcept { return groups_.in_use() >= most_; }
  [[nodiscard]] std::uint32_t begin(const Ticket& ticket, std::size_t charges, LateDecisions& late,
                                    Nanoseconds deadline);
  // One more reply is to come for it, from that session.
  void expect(std::uint32_t group, std::uint32_t session);

  // What one charge came to; with `arrived` of the last expected reply the group is answered.
  void decide(std::uint32_t group, std::uint32_t charge, const algorithm::Decision& decision);
  // An expected reply came, or never will. Returns whether it was for a group that had been answered without it.
  bool arrived(std::uint32_t group);

  // Answers what is late: undecided charges as unanswered for lack of time. Calls `on_late` with each session that
  // such a group waited for, and with how many charges were undecided.
  template <class OnLate>
  void expire(Nanoseconds elapsed, OnLate on_late);

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
  [[nodiscard]] Nanoseconds next_deadline() const noexcept { return next_deadline_; }

 private:
  struct Pending {
    Ticket ticket;
    LateDecisions* late = nullptr;
    std::vector<algorithm::Decision> decisions;
    std::vector<std::uint32_t> sessions;
    std::uint32_t expected = 0;
    Nanoseconds deadline{0};
    bool waits = false;
  };

  void answer(Pending& pending);

  std::size_t most_;
  std::size_t waiting_ = 0;
  Slots<Pending> groups_;
  Nanoseconds next_deadline_ = Nanoseconds::max();
};

inline std::uint32_t PendingGroups::begin(const Ticket& ticket, std::size_t charges, LateDecisions& late,
                                          Nanoseconds deadline) {
  const std::uint32_t number = groups_.take();
  Pending& pending = groups_[number];
  pending.ticket = ticket;
  pending.late = &late;
  pending.decisions.assign(charges, {.outcome = algorithm::Outcome::pending});
  pending.sessions.clear();
  pending.expected = 0;
  pending.deadline = deadline;
  pending.waits = true;
  ++waiting_;
  next_deadline_ = std::min(next_deadline_, deadline);
  return number;
}

inline void PendingGroups::expect(std::uint32_t group, std::uint32_t session) {
  Pending& pending = groups_[group];
  ++pending.expected;
  if (pending.sessions.empty() || pending.sessions.back() != session) pending.sessions.push_back(session);
}

inline void PendingGroups::decide(std::uint32_t group, std::uint32_t charge, const algorithm::Decision& decision) {
  if (groups_[group].waits) groups_[group].decisions[charge] = decision;
}

inline bool PendingGroups::arrived(std::uint32_t group) {
  Pending& pending = groups_[group];
  PENSTOCK_DCHECK(pending.expected > 0);
  const bool late = !pending.waits;
  if (--pending.expected > 0) return late;
  if (pending.waits) answer(pending);
  groups_.give_back(group);
  return late;
}

inline void PendingGroups::answer(Pending& pending) {
  pending.waits = false;
  --waiting_;
  pending.late->on_decided(pending.ticket, pending.decisions);
}

template <class OnLate>
void PendingGroups::expire(Nanoseconds elapsed, OnLate on_late) {
  if (elapsed < next_deadline_) return;
  next_deadline_ = Nanoseconds::max();
  for (std::uint32_t number = 0; number < groups_.ever(); ++number) {
    Pending& pending = groups_[number];
    if (!pending.waits) continue;
    if (pending.deadline > elapsed) {
      next_deadline_ = std::min(next_deadline_, pending.deadline);
      continue;
    }
    std::size_t undecided = 0;
    for (algorithm::Decision& decision : pending.decisions) {
      if (decision.outcome != algorithm::Outcome::pending) continue;
      decision = {.outcome = algorithm::Outcome::unanswered, .cause = algorithm::Cause::timeout};
      ++undecided;
    }
    on_late(pending.sessions, undecided);
    answer(pending);
  }
}

}  // namespace penstock::store::redis
