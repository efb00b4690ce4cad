#include "penstock/trial/case_runner.h"

#include <utility>

#include <fmt/format.h>

#include "penstock/trial/explanation.h"
#include "penstock/trial/rehearsal.h"
#include "penstock/trial/time_text.h"

namespace penstock::trial {
namespace {

constexpr std::string_view kNone = "none";

// The check of a step; its texts stay those of the step.
class StepCheck {
 public:
  explicit StepCheck(const Step& step) : entries_(step.descriptors.size()), descriptors_(step.descriptors.size()) {
    for (std::size_t i = 0; i < step.descriptors.size(); ++i) {
      const Descriptor& from = step.descriptors[i];
      for (const auto& [key, value] : from.entries) entries_[i].push_back({.key = key, .value = value});
      descriptors_[i] = {.entries = entries_[i],
                         .limit = from.limit,
                         .hits = from.hits.value_or(step.hits),
                         .negative_hits = step.refund};
    }
    check_ = {.domain = step.domain, .descriptors = descriptors_};
  }

  [[nodiscard]] const limiter::Check& check() const noexcept { return check_; }

 private:
  std::vector<std::vector<rules::Entry>> entries_;
  std::vector<limiter::Descriptor> descriptors_;
  limiter::Check check_;
};

std::string limit_name(const limiter::Status* status) {
  if (status != nullptr && status->rule == nullptr && status->reset_seconds) return "override";
  if (status == nullptr || status->rule == nullptr || (status->limit == nullptr && !status->rule->unlimited)) {
    return std::string{kNone};
  }
  return status->rule->path;
}

// Collects how an answer differs from what was expected of it.
class Comparison {
 public:
  Comparison(const Step& step, std::size_t number, Outcome& outcome)
      : step_{step}, number_{number}, outcome_{outcome} {}

  void whole(const Answer& answer, std::uint64_t passed) {
    const Expected& expected = step_.expected;
    const limiter::Status* const deciding = answer.deciding ? &answer.statuses[*answer.deciding] : nullptr;
    const std::string why = answer.error ? answer.error->message : explain_all(answer);
    if (answer.error)
      return add(expected.place, fmt::format("expected an answer, got an error: {}", answer.error->message), "");
    if (expected.code && *expected.code != answer.overall)
      differs(expected, "code", to_string(*expected.code), to_string(answer.overall), why);
    count(expected, "ok", expected.ok, passed, why);
    count(expected, "over", expected.over, step_.times - passed, why);
    one(expected, deciding, why);
    for (std::size_t i = 0; i < expected.statuses.size(); ++i) {
      const Expected& each = expected.statuses[i];
      const limiter::Status& status = answer.statuses[i];
      const std::string reason = explain(status);
      if (each.code && *each.code != status.code)
        differs(each, "code", to_string(*each.code), to_string(status.code), reason);
      one(each, &status, reason);
    }
  }

 private:
  void one(const Expected& expected, const limiter::Status* status, const std::string& why) {
    if (expected.remaining) {
      const std::uint32_t remaining = status == nullptr ? 0 : status->remaining;
      if (*expected.remaining != remaining) differs(expected, "remaining", *expected.remaining, remaining, why);
    }
    waits(expected, status, why);
    if (!expected.limit) return;
    const std::string path = limit_name(status);
    const bool by_name = status != nullptr && status->rule != nullptr && *expected.limit == status->rule->name;
    if (*expected.limit != path && !by_name) differs(expected, "limit", *expected.limit, path, why);
  }

  void waits(const Expected& expected, const limiter::Status* status, const std::string& why) {
    if (expected.retry_after) {
      const bool refused = status != nullptr && status->decision.refused();
      const Nanoseconds wait = refused ? status->decision.retry_after : Nanoseconds{0};
      const std::string got = wait == algorithm::Decision::kNever ? "never" : to_text(wait);
      if (*expected.retry_after != wait) differs(expected, "retry_after", to_text(*expected.retry_after), got, why);
    }
    if (expected.reset) {
      const std::optional<std::int64_t> reset = status == nullptr ? std::nullopt : status->reset_seconds;
      const std::string got = reset ? fmt::format("{}s", *reset) : std::string{kNone};
      if (expected.reset != reset) differs(expected, "reset", fmt::format("{}s", *expected.reset), got, why);
    }
  }

  void count(const Expected& expected, std::string_view what, const std::optional<std::uint64_t>& wanted,
             std::uint64_t got, const std::string& why) {
    if (wanted && *wanted != got) differs(expected, what, *wanted, got, why);
  }

  template <class A, class B>
  void differs(const Expected& expected, std::string_view what, const A& wanted, const B& got, const std::string& why) {
    add(expected.place, fmt::format("{}: expected {}, got {}", what, wanted, got), why);
  }

  void add(const Place& place, std::string what, std::string why) {
    if (outcome_.differences.size() >= kMaxDifferences) return;
    outcome_.differences.push_back(
        {.place = place, .step = number_, .at = step_.at, .what = std::move(what), .why = std::move(why)});
  }

  static std::string explain_all(const Answer& answer) {
    std::string text;
    for (std::size_t i = 0; i < answer.statuses.size(); ++i) {
      if (i > 0) text += "\n";
      if (answer.statuses.size() > 1) text += fmt::format("descriptor {}: ", i + 1);
      text += explain(answer.statuses[i]);
    }
    return text;
  }

  const Step& step_;
  std::size_t number_;
  Outcome& outcome_;
};

}  // namespace

Result<Outcome> run_case(const CaseFile& file, const Case& test, const std::shared_ptr<const rules::RuleSet>& rules) {
  auto node = Rehearsal::open(rules, {.counter_key = {.k0 = 1, .k1 = 2},
                                      .shadow_mode = file.shadow_mode,
                                      .quota_mode = file.quota_mode,
                                      .spare_others = file.spare_others});
  if (!node) return std::unexpected{node.error()};
  Outcome outcome{.name = test.name, .place = test.place, .steps = test.steps.size(), .differences = {}};
  for (std::size_t i = 0; i < test.steps.size(); ++i) {
    const Step& step = test.steps[i];
    const StepCheck check{step};
    Answer answer;
    std::uint64_t passed = 0;
    for (std::uint64_t time = 0; time < step.times; ++time) {
      answer = node->ask(check.check(), test.start + step.at);
      if (!answer.error && answer.overall == limiter::Code::ok) ++passed;
    }
    Comparison{step, i + 1, outcome}.whole(answer, passed);
  }
  return outcome;
}

}  // namespace penstock::trial
