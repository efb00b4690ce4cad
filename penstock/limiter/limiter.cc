#include "penstock/limiter/limiter.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "penstock/base/check.h"
#include "penstock/limiter/charges.h"
#include "penstock/limiter/judgement.h"
#include "penstock/limiter/plan.h"
#include "penstock/limiter/store_failure.h"

namespace penstock::limiter {
namespace {

using algorithm::Decision;
using algorithm::Outcome;

// One check of the batch: its stretch of plans and of decisions.
struct Planned {
  std::size_t first_plan = 0;
  std::size_t first_decision = 0;
  std::size_t decision_count = 0;
  std::optional<Error> error;  // set: nothing of it is charged
};

std::string_view describe(algorithm::Cause cause) {
  switch (cause) {
    case algorithm::Cause::timeout: return "it did not answer in time";
    case algorithm::Cause::refused: return "it cannot be reached, or refuses";
    case algorithm::Cause::readonly: return "it is a replica, which does not count";
    case algorithm::Cause::overloaded: return "too many requests wait for it";
    case algorithm::Cause::breaker: return "it stopped answering, and is asked again once it does";
    case algorithm::Cause::script: return "it cannot run the script that decides";
    case algorithm::Cause::none: break;
  }
  return "it gave no answer";
}

Error store_failed(algorithm::Cause cause) {
  return {.code = ErrorCode::unavailable,
          .message = fmt::format("the counter store failed: {}", describe(cause)),
          .place = std::nullopt};
}

}  // namespace

class Limiter::Impl final : public store::LateDecisions {
 public:
  Impl(store::Store& store, const LimiterOptions& options)
      : store_{store},
        options_{options},
        failures_{store, options.placement, statistics_.degraded},
        charges_{options} {}

  void use_rules(const std::shared_ptr<const rules::RuleSet>& rules) {
    ruling_ = {.rules = rules, .placements = nullptr};
    if (rules) ruling_.placements = std::make_shared<const Placements>(*rules, options_.placement);
    statistics_.rules.clear();
    statistics_.rules.resize(rules ? rules->rules().size() : 0);
  }

  void decide(std::span<const Check> checks, Instant now, VerdictSink& sink) {
    sink_ = &sink;
    plans_.clear();
    planned_.clear();
    for (const Check& check : checks) plan(check);
    gather(checks);
    decisions_.assign(charges_.charges().size(), Decision{});
    store_.submit({.groups = charges_.groups(), .charges = charges_.charges(), .decisions = decisions_}, now, *this);
    for (std::size_t i = 0; i < checks.size(); ++i) conclude(i, checks[i].ticket, now);
    next_request_ += checks.size();
  }

  void on_decided(const store::Ticket& ticket, std::span<const Decision> decisions) override {
    const auto found = waiting_.find(ticket.request);
    if (found == waiting_.end()) return;  // refused for lack of room when it was asked
    Waiting& waiting = *found->second;
    PENSTOCK_CHECK(ticket.first_decision + decisions.size() <= waiting.decisions.size());
    std::ranges::copy(decisions, waiting.decisions.begin() + ticket.first_decision);
    if (has_pending(waiting.decisions)) return;
    const std::unique_ptr<Waiting> done = std::move(found->second);
    waiting_.erase(found);
    sink_ = done->sink;
    answer(done->ticket, done->plans.descriptors, done->plans.overrides, done->decisions, done->ruling, done->asked);
  }

  [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }

 private:
  // A check whose store answers later: what its verdict needs, owned.
  struct Waiting {
    VerdictSink* sink;
    std::uint64_t ticket;
    Plans plans;
    std::vector<Decision> decisions;
    Ruling ruling;
    Instant asked;
  };

  void plan(const Check& check) {
    Planned& planned = planned_.emplace_back();
    planned.first_plan = plans_.descriptors.size();
    statistics_.checks.add();
    if (!ruling_.rules) {
      planned.error = Error{ErrorCode::unknown, "no rate limit configuration loaded", std::nullopt};
      return;
    }
    if (!options_.allow_negative_hits) {
      if (auto allowed = require_no_refund(check); !allowed) {
        planned.error = std::move(allowed.error());
        return;
      }
    }
    bool domain_known = true;
    if (auto done = plan_check(*ruling_.rules, check, options_.counter_key, plans_, domain_known); !done) {
      planned.error = std::move(done.error());
      return;
    }
    if (!domain_known) statistics_.unknown_domains.add();
  }

  // Turns all plans into charges and groups. Overrides are complete by now, so their addresses hold.
  void gather(std::span<const Check> checks) {
    std::size_t count = 0;
    for (const Plan& plan : plans_.descriptors) count += plan.limits(plans_.overrides).size();
    charges_.begin(count);
    for (std::size_t i = 0; i < checks.size(); ++i) {
      Planned& planned = planned_[i];
      planned.first_decision = charges_.charges().size();
      if (planned.error) continue;
      const std::span<Plan> plans = plans_of(i);
      auto added = charges_.add(ruling_, checks[i], plans, plans_.overrides, next_request_ + i);
      if (!added) {
        planned.error = std::move(added.error());
        continue;
      }
      planned.decision_count = charges_.charges().size() - planned.first_decision;
      for (const Plan& plan : plans) {
        if (plan.limits(plans_.overrides).empty() || plan.is_override() || plan.negative) continue;
        statistics_.rules[plan.match.rule->index].total_hits.add(plan.hits);
      }
    }
  }

  [[nodiscard]] std::span<Plan> plans_of(std::size_t check) {
    const std::size_t first = planned_[check].first_plan;
    const std::size_t end = check + 1 < planned_.size() ? planned_[check + 1].first_plan : plans_.descriptors.size();
    return std::span{plans_.descriptors}.subspan(first, end - first);
  }

  void conclude(std::size_t index, std::uint64_t ticket, Instant now) {
    const Planned& planned = planned_[index];
    if (planned.error) {
      give_error(ticket, *planned.error);
      return;
    }
    const auto decisions = std::span<Decision>{decisions_}.subspan(planned.first_decision, planned.decision_count);
    const std::span<const Plan> plans = plans_of(index);
    if (has_pending(decisions)) {
      wait(ticket, next_request_ + index, plans, decisions, now);
      return;
    }
    answer(ticket, plans, plans_.overrides, decisions, ruling_, now);
  }

  void wait(std::uint64_t ticket, std::uint64_t request, std::span<const Plan> plans,
            std::span<const Decision> decisions, Instant now) {
    if (waiting_.size() >= kMaxWaiting) {
      statistics_.waiting_refused.add();
      give_error(ticket, {ErrorCode::resource_exhausted,
                          fmt::format("{} requests wait for the counter store already, which is the most", kMaxWaiting),
                          std::nullopt});
      return;
    }
    auto waiting = std::make_unique<Waiting>(Waiting{.sink = sink_,
                                                     .ticket = ticket,
                                                     .plans = {{plans.begin(), plans.end()}, plans_.overrides},
                                                     .decisions = {decisions.begin(), decisions.end()},
                                                     .ruling = ruling_,
                                                     .asked = now});
    waiting_.emplace(request, std::move(waiting));
  }

  Status judge_with_failures(const Ruling& ruling, const Plan& plan, std::span<const rules::RuleLimit> limits,
                             std::span<const Decision> decisions, Instant now) {
    Status status = judge(plan, limits, decisions.subspan(plan.first_decision, limits.size()), now);
    if (status.limit == nullptr) return status;
    const auto decided = static_cast<std::size_t>(status.limit - limits.data());
    status.degraded = failures_.policy_of(ruling, plan, decided, status.decision);
    const bool unknown = status.degraded && *status.degraded != rules::OnStoreFailure::local;
    if (!unknown) return status;
    status.limit = nullptr;
    status.reset_seconds.reset();
    return status;
  }

  void answer(std::uint64_t ticket, std::span<const Plan> plans, std::span<const rules::RuleLimit> overrides,
              std::span<Decision> decisions, const Ruling& ruling, Instant now) {
    failures_.resolve(ruling, plans, overrides, decisions, now);
    statuses_.clear();
    algorithm::Cause cause = algorithm::Cause::none;
    bool unanswered = false;
    for (const Plan& plan : plans) {
      const std::span<const rules::RuleLimit> limits = plan.limits(overrides);
      const Status& status = statuses_.emplace_back(judge_with_failures(ruling, plan, limits, decisions, now));
      if (status.decision.outcome == Outcome::unanswered) {
        statistics_.unanswered_groups.add();
        unanswered = true;
        cause = status.decision.cause;
      } else if (status.limit != nullptr && status.rule != nullptr && !plan.negative && ruling.rules == ruling_.rules) {
        count_hits(plan, status, options_.near_limit_ratio, statistics_.rules[status.rule->index]);
      }
    }
    Code overall = overall_code(statuses_, options_.quota_mode);
    if (overall == Code::over_limit && options_.shadow_mode) {
      statistics_.global_shadow_mode.add();
      overall = Code::ok;
    }
    if (overall == Code::over_limit) {
      statistics_.over_limit_checks.add();
    } else if (unanswered) {
      give_error(ticket, store_failed(cause));
      return;
    }
    sink_->on_verdict(ticket, {.overall = overall,
                               .statuses = statuses_,
                               .deciding = deciding_status(statuses_, options_.quota_mode),
                               .wait = overall_wait(overall, statuses_),
                               .error = nullptr});
  }

  void give_error(std::uint64_t ticket, const Error& error) {
    statistics_.failed_checks.add();
    sink_->on_verdict(ticket, {.error = &error});
  }

  static bool has_pending(std::span<const Decision> decisions) {
    return std::ranges::any_of(decisions, [](const Decision& d) { return d.outcome == Outcome::pending; });
  }

  store::Store& store_;
  const LimiterOptions options_;
  VerdictSink* sink_ = nullptr;  // of the checks at hand
  Ruling ruling_;
  Statistics statistics_;
  StoreFailures failures_;
  std::uint64_t next_request_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Waiting>> waiting_;  // at most kMaxWaiting

  // Of the batch at hand, kept for their room.
  Plans plans_;
  std::vector<Planned> planned_;
  Charges charges_;
  std::vector<Decision> decisions_;
  std::vector<Status> statuses_;
};

Limiter::Limiter(store::Store& store, const LimiterOptions& options) : impl_{std::make_unique<Impl>(store, options)} {}
Limiter::~Limiter() = default;

void Limiter::use_rules(const std::shared_ptr<const rules::RuleSet>& rules) { impl_->use_rules(rules); }
void Limiter::decide(std::span<const Check> checks, Instant now, VerdictSink& sink) {
  impl_->decide(checks, now, sink);
}
const Statistics& Limiter::statistics() const noexcept { return impl_->statistics(); }

}  // namespace penstock::limiter
