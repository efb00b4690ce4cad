#pragma once

#include <memory>
#include <span>

#include "penstock/base/hash.h"
#include "penstock/base/instant.h"
#include "penstock/limiter/check.h"
#include "penstock/limiter/placement.h"
#include "penstock/limiter/statistics.h"
#include "penstock/limiter/verdict.h"
#include "penstock/rules/rule_set.h"
#include "penstock/store/store.h"

namespace penstock::limiter {

struct LimiterOptions {
  HashKey counter_key;            // random, one for all loops that share a table
  float near_limit_ratio = 0.8F;  // share of a limit from which on a hit counts as near it
  // Whether callers may give hits back. False: a check that wants to is answered invalid_argument and charges nothing.
  bool allow_negative_hits = true;
  // The three modes of envoyproxy/ratelimit for all rules (SHADOW_MODE, QUOTA_MODE and
  // STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT there).
  bool shadow_mode = false;    // no check as a whole is over its limit; statuses say what they say
  bool quota_mode = false;     // every descriptor but an unlimited one is one of quota mode, matched or not
  bool spare_others = false;   // where a limit of a check is over, only those that are over are charged
  PlacementOptions placement;  // which store keeps what, and what happens when it fails
};

// A batch of checks in, a verdict for each out: matching, grouping, `replaces`, shadow and quota mode, statistics. Does
// not know which store decides nor which protocol asked.
//
// Threading: Loop-owned. Ownership: borrows the store for its lifetime, a sink until all its checks have their verdict;
// shares the rules.
// Cost: with a store that answers in place nothing is allocated after warm-up.
class Limiter {
 public:
  // How many checks may wait for a store at once; further ones are answered RESOURCE_EXHAUSTED.
  static constexpr std::size_t kMaxWaiting = 65'536;

  Limiter(store::Store& store, const LimiterOptions& options);
  ~Limiter();
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;

  // Until rules are given every check is answered with an error, as in envoyproxy/ratelimit.
  void use_rules(const std::shared_ptr<const rules::RuleSet>& rules);

  // Gives each check's verdict to `sink`: before the call returns where the store answers in place, later on this
  // loop elsewhere. A verdict that comes later finds its check's views gone; only the ticket is handed back.
  void decide(std::span<const Check> checks, Instant now, VerdictSink& sink);

  [[nodiscard]] const Statistics& statistics() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::limiter
