#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/base/instant.h"
#include "penstock/limiter/check.h"
#include "penstock/limiter/limiter.h"
#include "penstock/limiter/verdict.h"
#include "penstock/rules/rule_set.h"
#include "penstock/store/memory/memory_store.h"

namespace penstock::trial {

// A verdict that outlives its check. Its statuses point into the rules; those of overrides have no limit any more.
struct Answer {
  limiter::Code overall = limiter::Code::ok;
  std::vector<limiter::Status> statuses;
  std::optional<std::size_t> deciding;  // index of the status
  std::optional<Error> error;
};

// One node whose time is what it is told: the limiter and the embedded store of the server, without the server. The
// same checks at the same instants always get the same answers, but for windows that begin at an offset per key, which
// differs between nodes and is fixed here.
//
// Threading: Loop-owned. Cost: a table for kCounters counters.
class Rehearsal {
 public:
  static constexpr std::uint64_t kCounters = 100'000;  // when there are more the least used go, as in the server

  // Errors: resource_exhausted where there is no memory for the table.
  [[nodiscard]] static Result<Rehearsal> open(std::shared_ptr<const rules::RuleSet> rules,
                                              const limiter::LimiterOptions& options);

  [[nodiscard]] Answer ask(const limiter::Check& check, Instant now);

  [[nodiscard]] const rules::RuleSet& rules() const noexcept { return *rules_; }

 private:
  Rehearsal(std::shared_ptr<const rules::RuleSet> rules, std::unique_ptr<store::MemoryStore> store,
            const limiter::LimiterOptions& options);

  std::shared_ptr<const rules::RuleSet> rules_;
  std::unique_ptr<store::MemoryStore> store_;
  std::unique_ptr<limiter::Limiter> limiter_;
};

}  // namespace penstock::trial
