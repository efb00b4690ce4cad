#include "penstock/store/testing/faulty_store.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/store/testing/conformance.h"
#include "penstock/store/testing/model_store.h"

namespace penstock::store::testing {
namespace {

using algorithm::Cause;
using algorithm::Outcome;

struct Fixture {
  explicit Fixture(std::vector<Fault> script) : store{behind, std::move(script)} {}

  std::size_t decide(const std::vector<const char*>& names) {
    std::vector<GroupOf> groups;
    for (const char* name : names) groups.push_back({.charges = {charge(name, limit, 1)}});
    return ledger.submit(groups, kStart);
  }
  std::uint32_t remaining(const char* name) {
    Ledger direct{behind};
    return direct.decisions(direct.submit(std::vector<GroupOf>{{.charges = {charge(name, limit, 0)}}}, kStart))[0]
        .remaining;
  }

  const algorithm::Limit limit = gcra(5, 60, 5);
  ModelStore behind;
  FaultyStore store;
  Ledger ledger{store};
};

TEST(FaultyStore, WithoutFaultsAnswersAsTheStoreBehind) {
  Fixture fixture{{}};
  EXPECT_EQ(fixture.ledger.decisions(fixture.decide({"a"}))[0].remaining, 4u);
  EXPECT_EQ(fixture.store.delayed(), 0u);
}

TEST(FaultyStore, DelaysGroupsAndAnswersThemOnceInAnyOrder) {
  Fixture fixture{{Fault::delay, Fault::none, Fault::delay}};
  const std::size_t batch = fixture.decide({"a", "a", "a"});
  const auto decisions = fixture.ledger.decisions(batch);
  EXPECT_EQ(decisions[0].outcome, Outcome::pending);
  EXPECT_EQ(decisions[1].remaining, 3u) << "the delayed group was executed when it was submitted";
  EXPECT_EQ(decisions[2].outcome, Outcome::pending);
  fixture.store.answer(1);
  EXPECT_EQ(decisions[0].outcome, Outcome::pending);
  EXPECT_EQ(decisions[2].remaining, 2u);
  fixture.store.answer_all();
  EXPECT_EQ(decisions[0].remaining, 4u);
  EXPECT_EQ(fixture.ledger.late_answers(), 2u);
  EXPECT_EQ(fixture.ledger.wrong_answers(), 0u);
}

TEST(FaultyStore, RefusesWithoutExecutingAndNamesTheCause) {
  Fixture fixture{{Fault::refuse}};
  fixture.store.fail_with(Cause::refused);
  const auto decisions = fixture.ledger.decisions(fixture.decide({"a"}));
  EXPECT_EQ(decisions[0].outcome, Outcome::unanswered);
  EXPECT_EQ(decisions[0].cause, Cause::refused);
  EXPECT_EQ(fixture.remaining("a"), 5u);
}

TEST(FaultyStore, LosesAnswersOfWhatItExecuted) {
  Fixture fixture{{Fault::lose}};
  const auto decisions = fixture.ledger.decisions(fixture.decide({"a"}));
  EXPECT_EQ(decisions[0].outcome, Outcome::pending);
  fixture.store.answer_all();
  EXPECT_EQ(decisions[0].outcome, Outcome::unanswered);
  EXPECT_EQ(decisions[0].cause, Cause::timeout);
  EXPECT_EQ(fixture.remaining("a"), 4u);
}

TEST(FaultyStore, RefusesAsOverloadedWhereTooManyWait) {
  Fixture fixture{std::vector<Fault>(FaultyStore::kMaxDelayed + 1, Fault::delay)};
  for (std::size_t i = 0; i < FaultyStore::kMaxDelayed; ++i) fixture.decide({"a"});
  const auto decisions = fixture.ledger.decisions(fixture.decide({"a"}));
  EXPECT_EQ(decisions[0].cause, Cause::overloaded);
  EXPECT_EQ(fixture.store.delayed(), FaultyStore::kMaxDelayed);
}

TEST(FaultyStore, SameSeedDoesTheSame) {
  const algorithm::Limit limit = gcra(5, 60, 5);
  std::vector<std::vector<Outcome>> runs;
  for (int run = 0; run < 2; ++run) {
    ModelStore behind;
    FaultyStore store{behind, 42};
    Ledger ledger{store};
    auto& outcomes = runs.emplace_back();
    for (int i = 0; i < 50; ++i) {
      const std::size_t batch = ledger.submit(std::vector<GroupOf>{{.charges = {charge("a", limit, 1)}}}, kStart);
      outcomes.push_back(ledger.decisions(batch)[0].outcome);
    }
    store.answer_all();
    EXPECT_EQ(ledger.pending(), 0u);
  }
  EXPECT_EQ(runs[0], runs[1]);
}

}  // namespace
}  // namespace penstock::store::testing
