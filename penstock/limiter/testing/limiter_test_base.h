#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/limiter/limiter.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/store/memory/table.h"
#include "penstock/store/testing/faulty_store.h"

// A limiter over the embedded store, with checks and verdicts in few words.

namespace penstock::limiter::testing {

inline constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

inline std::shared_ptr<const rules::RuleSet> load(const std::string& text) {
  const std::vector<rules::Source> sources = {{.name = "rules.yaml", .text = text}};
  auto loaded = rules::load(sources, {});
  if (!loaded) {
    ADD_FAILURE() << to_string(loaded.error().front());
    return nullptr;
  }
  return loaded->rules;
}

// A verdict that outlives the call.
struct Kept {
  Code overall = Code::ok;
  std::vector<Status> statuses;
  std::optional<Error> error;
  std::optional<std::size_t> deciding;  // index of the status
};

class KeepVerdicts final : public VerdictSink {
 public:
  void on_verdict(std::uint64_t ticket, const Verdict& verdict) override {
    Kept kept{.overall = verdict.overall,
              .statuses = {verdict.statuses.begin(), verdict.statuses.end()},
              .error = {},
              .deciding = {}};
    if (verdict.deciding != nullptr) {
      kept.deciding = static_cast<std::size_t>(verdict.deciding - verdict.statuses.data());
    }
    if (verdict.error != nullptr) kept.error = *verdict.error;
    ASSERT_TRUE(verdicts.emplace(ticket, std::move(kept)).second) << "one verdict a check";
  }
  std::map<std::uint64_t, Kept> verdicts;
};

// One descriptor: its entries, and what else it may carry.
struct Asked {
  std::vector<rules::Entry> entries;
  std::optional<Override> limit = {};
  std::optional<std::uint64_t> hits = {};
  bool negative_hits = false;
};

class LimiterTest : public ::testing::Test {
 protected:
  explicit LimiterTest(std::vector<store::testing::Fault> script = {},
                       const LimiterOptions& options = {.counter_key = {1, 2}})
      : store_{memory_, std::move(script)}, limiter_{store_, options} {}

  void use(const std::string& text) {
    rules_ = load(text);
    limiter_.use_rules(rules_);
  }

  std::uint64_t send(const std::vector<Asked>& asked, Instant now = kNow, std::string_view domain = "d",
                     std::uint32_t hits_addend = 0) {
    std::vector<Descriptor> descriptors;
    for (const Asked& each : asked) {
      descriptors.push_back(
          {.entries = each.entries, .limit = each.limit, .hits = each.hits, .negative_hits = each.negative_hits});
    }
    const Check check = {
        .domain = domain, .descriptors = descriptors, .hits_addend = hits_addend, .ticket = next_ticket_};
    limiter_.decide({&check, 1}, now, sink_);
    return next_ticket_++;
  }

  Kept ask(const std::vector<Asked>& asked, Instant now = kNow, std::string_view domain = "d",
           std::uint32_t hits_addend = 0) {
    return sink_.verdicts.at(send(asked, now, domain, hits_addend));
  }

  [[nodiscard]] const RuleCounters& counters(std::string_view path) const {
    for (const auto& rule : rules_->rules()) {
      if (rule->path == path) return limiter_.statistics().rules[rule->index];
    }
    ADD_FAILURE() << "no rule " << path;
    return limiter_.statistics().rules.front();
  }

  store::MemoryStore memory_{*store::Table::create({.capacity_keys = 10'000})};
  store::testing::FaultyStore store_;
  KeepVerdicts sink_;
  std::shared_ptr<const rules::RuleSet> rules_;
  Limiter limiter_;
  std::uint64_t next_ticket_ = 1;
};

}  // namespace penstock::limiter::testing
