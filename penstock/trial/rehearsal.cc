#include "penstock/trial/rehearsal.h"

#include <utility>

namespace penstock::trial {
namespace {

class KeepAnswer final : public limiter::VerdictSink {
 public:
  void on_verdict(std::uint64_t /*ticket*/, const limiter::Verdict& verdict) override {
    answer.overall = verdict.overall;
    answer.statuses.assign(verdict.statuses.begin(), verdict.statuses.end());
    if (verdict.deciding != nullptr) {
      answer.deciding = static_cast<std::size_t>(verdict.deciding - verdict.statuses.data());
    }
    if (verdict.error != nullptr) answer.error = *verdict.error;
  }

  Answer answer;
};

}  // namespace

Result<Rehearsal> Rehearsal::open(std::shared_ptr<const rules::RuleSet> rules, const limiter::LimiterOptions& options) {
  auto table = store::Table::create({.capacity_keys = kCounters});
  if (!table) return std::unexpected{table.error()};
  return Rehearsal{std::move(rules), std::make_unique<store::MemoryStore>(*std::move(table)), options};
}

Rehearsal::Rehearsal(std::shared_ptr<const rules::RuleSet> rules, std::unique_ptr<store::MemoryStore> store,
                     const limiter::LimiterOptions& options)
    : rules_{std::move(rules)},
      store_{std::move(store)},
      limiter_{std::make_unique<limiter::Limiter>(*store_, options)} {
  limiter_->use_rules(rules_);
}

Answer Rehearsal::ask(const limiter::Check& check, Instant now) {
  KeepAnswer sink;
  limiter_->decide({&check, 1}, now, sink);
  for (limiter::Status& status : sink.answer.statuses) {
    if (status.rule == nullptr && status.limit != nullptr) status.limit = nullptr;
  }
  return std::move(sink.answer);
}

}  // namespace penstock::trial
