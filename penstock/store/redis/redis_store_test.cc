// The state machine against a simulated Redis: what goes wrong on the way, and that nothing is counted twice.

#include "penstock/store/redis/redis_store.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/store/redis/testing/simulated_redis.h"
#include "penstock/store/testing/conformance.h"
#include "penstock/store/testing/ledger.h"

namespace penstock::store::redis::testing {
namespace {

using algorithm::Cause;
using algorithm::Decision;
using algorithm::Limit;
using algorithm::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;
using store::testing::charge;
using store::testing::gcra;
using store::testing::GroupOf;
using store::testing::kStart;
using store::testing::Ledger;
using store::testing::window;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RedisStoreTest : public ::testing::Test {
 protected:
  RedisStoreTest() { make({}); }

  void make(RedisOptions options) {
    options.endpoints = {{.host = "redis.test"}};
    store_ = std::make_unique<RedisStore>(options, server_);
    server_.serve(*store_);
    ledger_ = std::make_unique<Ledger>(*store_);
    turn();
    turn();
  }

  // A millisecond passes, and everybody does what is to be done.
  void turn(Nanoseconds span = milliseconds{1}) {
    now_ += span;
    server_.turn(now_);
    store_->tick(now_);
    server_.turn(now_);
  }
  void turns(int count) {
    for (int i = 0; i < count; ++i) turn();
  }
  void until_ready() {
    for (int i = 0; i < 3'000 && !store_->ready(); ++i) turn();
    ASSERT_TRUE(store_->ready()) << store_->last_failure();
  }

  std::size_t submit(const Charge& one) { return ledger_->submit(std::vector{GroupOf{.charges = {one}}}, now_); }
  Decision decision(std::size_t batch) { return ledger_->decisions(batch).front(); }
  // Submits and lets everything happen.
  Decision decide(const Charge& one) {
    const std::size_t batch = submit(one);
    server_.turn(now_);
    return decision(batch);
  }

  const Limit window_ = window(3, 60, true);
  const Limit bucket_ = gcra(10, 60, 10);
  const Charge hit_ = charge("k", window_, 1);
  const Charge drop_ = charge("k", bucket_, 1);
  SimulatedRedis server_;
  std::unique_ptr<RedisStore> store_;
  std::unique_ptr<Ledger> ledger_;
  Instant now_ = kStart;
};

TEST_F(RedisStoreTest, WindowIsCountedByOneCommandAndExpiresWithItsFirstHit) {
  for (const std::uint32_t left : {2u, 1u, 0u}) EXPECT_EQ(decide(hit_).remaining, left);
  EXPECT_EQ(decide(hit_).outcome, Outcome::denied);
  turn();
  EXPECT_EQ(server_.times("INCRBY"), 4u);
  EXPECT_GE(server_.times("EXPIRE"), 1u);
  ASSERT_EQ(server_.ttls.size(), 1u);
  EXPECT_EQ(server_.ttls.begin()->second, 60);
}

TEST_F(RedisStoreTest, CounterThatCannotBeCountedUpAnyMoreIsOverItsLimit) {
  server_.errors["INCRBY"] = "ERR increment or decrement would overflow";
  const Decision refused = decide(hit_);
  EXPECT_EQ(refused.outcome, Outcome::denied);
  EXPECT_EQ(refused.remaining, 0u);
}

TEST_F(RedisStoreTest, CommandsOfOneSubmitGoOutInOneWrite) {
  std::vector<std::string> names;
  std::vector<GroupOf> groups;
  for (int i = 0; i < 100; ++i) names.push_back("k" + std::to_string(i));
  for (const std::string& name : names) {
    groups.push_back({.charges = {charge(name.c_str(), window_, 1)}});
    groups.push_back({.charges = {charge(name.c_str(), bucket_, 1)}});
  }
  const std::uint32_t before = server_.writes;
  const std::size_t batch = ledger_->submit(groups, now_);
  server_.turn(now_);
  EXPECT_EQ(server_.writes, before + 1);
  for (const Decision& each : ledger_->decisions(batch)) EXPECT_EQ(each.outcome, Outcome::allowed);
  EXPECT_EQ(server_.times("EVALSHA"), 2u) << "64 charges a call";
}

TEST_F(RedisStoreTest, CommandWhoseReplyWasLostIsNotSentAgain) {
  server_.answering = false;
  const std::size_t batch = submit(hit_);
  server_.turn(now_);
  EXPECT_EQ(server_.values.begin()->second, 1) << "it was executed";
  server_.cut(now_);
  EXPECT_EQ(decision(batch).outcome, Outcome::unanswered);
  EXPECT_EQ(decision(batch).cause, Cause::refused);
  server_.answering = true;
  until_ready();
  turns(10);
  EXPECT_EQ(server_.values.begin()->second, 1) << "and counted once";
  EXPECT_EQ(server_.ttls.size(), 1u) << "but its key expires";
  EXPECT_EQ(decide(hit_).remaining, 1u);
}

TEST_F(RedisStoreTest, CommandThatWaitedForAConnectionThatEndedIsNotSentOnTheNext) {
  server_.executing = false;
  const std::size_t batch = submit(drop_);
  server_.turn(now_);
  server_.cut(now_);
  server_.executing = true;
  EXPECT_EQ(decision(batch).cause, Cause::refused);
  until_ready();
  turns(10);
  EXPECT_EQ(server_.times("EVALSHA") + server_.times("EVAL"), 0u);
}

TEST_F(RedisStoreTest, ThousandRequestsAtADeadServerCauseOneAttemptAtATime) {
  server_.listening = false;
  server_.cut(now_);
  const std::uint32_t before = server_.attempts;
  for (int i = 0; i < 1'000; ++i) {
    const Decision refused = decision(submit(hit_));
    EXPECT_EQ(refused.outcome, Outcome::unanswered) << "at once";
    EXPECT_EQ(refused.cause, Cause::refused);
  }
  EXPECT_EQ(server_.attempts, before);
  for (int second = 0; second < 10; ++second) turns(1'000);
  EXPECT_GE(server_.attempts, before + 8);
  EXPECT_LE(server_.attempts, before + 30) << "the waits grow to a second";
  server_.listening = true;
  until_ready();
  EXPECT_EQ(decide(hit_).outcome, Outcome::allowed);
}

TEST_F(RedisStoreTest, GroupIsAnsweredAtItsDeadlineAndALateReplyIsDropped) {
  server_.answering = false;
  const std::size_t batch = submit(hit_);
  turns(4);
  EXPECT_EQ(decision(batch).outcome, Outcome::pending);
  turns(1);
  EXPECT_EQ(decision(batch).outcome, Outcome::unanswered);
  EXPECT_EQ(decision(batch).cause, Cause::timeout);
  server_.answering = true;
  turns(1);
  EXPECT_EQ(store_->metrics().late_replies.value(), 1u);
  EXPECT_EQ(ledger_->wrong_answers(), 0u);
  EXPECT_EQ(decide(hit_).remaining, 1u) << "what came late was counted";
}

TEST_F(RedisStoreTest, CallersDeadlineComesFirstWhereItIsShorter) {
  server_.answering = false;
  const Group group = {.charge_count = 1, .deadline = now_ + milliseconds{2}, .ticket = {.request = 0}};
  (void)ledger_->submit({}, now_);  // gives the ticket a batch without a place for decisions
  std::vector<Decision> decisions(1);
  class Late final : public LateDecisions {
   public:
    void on_decided(const Ticket&, std::span<const Decision> answer) override { answered = answer.front(); }
    Decision answered{.outcome = Outcome::pending};
  } late;
  Ledger names{*store_};
  Charge one = hit_;
  class Names final : public CounterNames {
   public:
    [[nodiscard]] std::array<std::uint8_t, 16> shared_identity() const override { return {}; }
    [[nodiscard]] std::uint64_t shared_family() const override { return 1; }
    [[nodiscard]] bool append_original_key(Instant, std::string&) const override { return false; }
  } fixed;
  one.names = &fixed;
  store_->submit({.groups = {&group, 1}, .charges = {&one, 1}, .decisions = decisions}, now_, late);
  turns(1);
  EXPECT_EQ(late.answered.outcome, Outcome::pending);
  turns(1);
  EXPECT_EQ(late.answered.cause, Cause::timeout);
}

TEST_F(RedisStoreTest, ServerThatDoesNotAnswerIsNotWaitedForUntilItDoes) {
  server_.executing = false;
  for (int i = 0; i < 40; ++i) {
    submit(hit_);
    turns(1);
  }
  EXPECT_EQ(decision(submit(hit_)).cause, Cause::breaker) << "at once";
  EXPECT_EQ(store_->metrics().breaker_trips.value(), 1u);
  server_.executing = true;
  turns(60);
  EXPECT_NE(decide(hit_).outcome, Outcome::unanswered) << "a probe was answered";
}

TEST_F(RedisStoreTest, HiccupDoesNotTripTheBreaker) {
  server_.executing = false;
  for (int i = 0; i < 15; ++i) {
    submit(hit_);
    turns(1);
  }
  server_.executing = true;
  turns(1);
  EXPECT_EQ(store_->metrics().breaker_trips.value(), 0u);
  EXPECT_NE(decide(hit_).outcome, Outcome::unanswered);
}

TEST_F(RedisStoreTest, ConnectionThatStaysSilentIsLeft) {
  server_.executing = false;
  submit(hit_);
  turns(1'010);
  EXPECT_FALSE(store_->ready());
  EXPECT_THAT(store_->last_failure(), HasSubstr("stopped answering"));
  server_.executing = true;
  until_ready();
}

TEST_F(RedisStoreTest, ScriptThatTheServerForgotIsSentAgainWithItsText) {
  server_.errors["EVALSHA"] = "NOSCRIPT No matching script. Please use EVAL.";
  EXPECT_EQ(decide(drop_).outcome, Outcome::pending);
  server_.turn(now_);
  EXPECT_EQ(server_.times("EVAL"), 1u);
  EXPECT_EQ(ledger_->pending(), 0u);
  EXPECT_EQ(store_->metrics().scripts_missing.value(), 1u);
}

TEST_F(RedisStoreTest, WhereScriptsAreRefusedWindowsAreCountedAllTheSame) {
  server_.script_refusal = "NOPERM this user has no permissions to run the 'script|load' command";
  server_.cut(now_);
  until_ready();
  EXPECT_THAT(store_->script_refusal(), HasSubstr("NOPERM"));
  EXPECT_EQ(decide(hit_).outcome, Outcome::allowed);
  EXPECT_EQ(decision(submit(drop_)).cause, Cause::script);
}

TEST_F(RedisStoreTest, ServerThatIsBusyWhenGreetedIsLeftUntilItTakesTheScript) {
  server_.script_refusal = "BUSY Redis is busy running a script.";
  server_.cut(now_);
  turns(300);
  EXPECT_FALSE(store_->ready());
  server_.script_refusal.reset();
  until_ready();
  EXPECT_EQ(store_->script_refusal(), "");
  EXPECT_EQ(decide(drop_).outcome, Outcome::allowed);
}

TEST_F(RedisStoreTest, ReplicaIsLeftAndThePrimaryFoundLater) {
  server_.replica = true;
  EXPECT_EQ(decide(hit_).cause, Cause::readonly);
  turns(200);
  EXPECT_FALSE(store_->ready());
  EXPECT_EQ(decision(submit(hit_)).cause, Cause::readonly);
  server_.replica = false;
  until_ready();
  EXPECT_EQ(decide(hit_).outcome, Outcome::allowed);
}

TEST_F(RedisStoreTest, PasswordIsAskedForAnewForEachConnection) {
  std::string password = "old";
  server_.password = "new";
  make({.credentials = [&password] { return Credentials{.user = {}, .password = password}; }});
  turns(300);
  EXPECT_FALSE(store_->ready());
  EXPECT_THAT(store_->last_failure(), HasSubstr("WRONGPASS"));
  password = "new";
  until_ready();
  EXPECT_EQ(server_.passwords.front(), "old");
  EXPECT_EQ(server_.passwords.back(), "new");
}

TEST_F(RedisStoreTest, GarbageEndsTheConnectionAndEverybodyIsAnsweredOnce) {
  server_.executing = false;
  std::vector<std::size_t> batches;
  for (int i = 0; i < 10; ++i) batches.push_back(submit(i % 2 == 0 ? hit_ : drop_));
  server_.turn(now_);
  server_.say("what is this\r\n", now_);
  for (const std::size_t batch : batches) EXPECT_EQ(decision(batch).cause, Cause::refused);
  EXPECT_EQ(ledger_->wrong_answers(), 0u);
  server_.executing = true;
  until_ready();
}

TEST_F(RedisStoreTest, NoErrorIsForGood) {
  const std::vector<std::pair<std::string, Cause>> kErrors = {
      {"LOADING Redis is loading the dataset in memory", Cause::refused},
      {"OOM command not allowed when used memory > 'maxmemory'.", Cause::refused},
      {"BUSY Redis is busy running a script.", Cause::refused},
      {"MISCONF Redis is configured to save RDB snapshots", Cause::refused},
      {"NOREPLICAS Not enough good replicas to write.", Cause::refused},
      {"NOAUTH Authentication required.", Cause::refused},
      {"NOPERM this user has no permissions", Cause::refused},
      {"CLUSTERDOWN Hash slot not served", Cause::refused},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", Cause::script},
      {"ERR value is not an integer or out of range", Cause::script},
      {"READONLY You can't write against a read only replica.", Cause::readonly},
  };
  for (const auto& [text, cause] : kErrors) {
    for (const char* command : {"INCRBY", "EVALSHA"}) {
      server_.errors[command] = text;
      const Charge& one = std::string_view{command} == "INCRBY" ? hit_ : drop_;
      EXPECT_EQ(decide(one).outcome, Outcome::unanswered) << text;
      EXPECT_EQ(decision(submit(one)).outcome == Outcome::allowed, false) << text;
      server_.errors.clear();
      until_ready();
      turns(2);
      EXPECT_NE(decide(one).outcome, Outcome::unanswered) << text << " is over";
    }
    server_.errors["INCRBY"] = text;
    EXPECT_EQ(decide(hit_).cause, cause) << text;
    server_.errors.clear();
    until_ready();
  }
}

TEST_F(RedisStoreTest, ClockThatIsSetNeitherHoldsNorEndsWhatWaits) {
  server_.answering = false;
  const std::size_t back = submit(hit_);
  now_ -= std::chrono::hours{1};
  turns(6);
  EXPECT_EQ(decision(back).cause, Cause::timeout) << "after an hour's step back";
  server_.answering = true;
  turns(2);
  const std::size_t forward = submit(hit_);
  now_ += std::chrono::hours{1};
  server_.turn(now_);
  EXPECT_NE(decision(forward).outcome, Outcome::unanswered) << "its reply came before anybody looked at the clock";
}

TEST_F(RedisStoreTest, WindowsAreNamedByTheServersClock) {
  server_.ahead = seconds{60};
  turns(1'100);
  decide(hit_);
  const std::string now_key = server_.values.begin()->first;
  EXPECT_THAT(now_key, ::testing::EndsWith(std::to_string((now_ + seconds{60}).time_since_epoch() / seconds{60})));
  EXPECT_LT(std::chrono::abs(store_->clock_offset() - seconds{60}), milliseconds{2});
}

TEST_F(RedisStoreTest, LookWritesNothing) {
  const std::size_t batch =
      ledger_->submit(std::vector{GroupOf{.charges = {hit_}, .verb = algorithm::Verb::look}}, now_);
  server_.turn(now_);
  EXPECT_EQ(decision(batch).remaining, 3u);
  EXPECT_EQ(server_.times("INCRBY"), 0u);
  EXPECT_EQ(server_.times("GET"), 1u);
}

TEST_F(RedisStoreTest, MoreThanMayWaitIsRefusedAsOverloaded) {
  make({.deadline = seconds{60}});
  server_.executing = false;
  std::size_t last = 0;
  for (std::size_t i = 0; i < Session::kMaxExpected; ++i) last = submit(hit_);
  EXPECT_EQ(decision(last).outcome, Outcome::pending);
  EXPECT_EQ(decision(submit(hit_)).cause, Cause::overloaded);
  server_.executing = true;
  server_.turn(now_);
  EXPECT_EQ(ledger_->pending(), 0u);
  EXPECT_NE(decide(hit_).outcome, Outcome::unanswered);
}

}  // namespace
}  // namespace penstock::store::redis::testing
