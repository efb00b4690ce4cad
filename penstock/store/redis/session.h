#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/algorithm/decision.h"
#include "penstock/base/instant.h"
#include "penstock/metrics/counter.h"
#include "penstock/store/redis/backoff.h"
#include "penstock/store/redis/breaker.h"
#include "penstock/store/redis/redis_metrics.h"
#include "penstock/store/redis/resp.h"
#include "penstock/store/redis/wires.h"

namespace penstock::store::redis {

struct Credentials {
  std::string user;  // empty: the default user
  std::string password;
};

// What is said first on a connection.
struct Greeting {
  // Asked anew for each connection, so that a changed password is taken up.
  std::function<Credentials()> credentials;
  int database = 0;
  std::string_view script;    // to be loaded; empty: none
  bool needs_primary = true;  // a replica is of no use
  bool asks_time = true;      // once a second, and as a probe
  std::string channel;        // to be listened to; such a session takes no commands
};

struct SessionSettings {
  Endpoint endpoint;
  Greeting greeting;
  Nanoseconds prompt{0};   // what a reply may take before the breaker minds
  std::uint64_t seed = 0;  // of the waits between attempts
};

// What a reply will be for. `kind` and `index` mean something to who sent the command.
struct Expectation {
  std::uint8_t kind = 0;
  std::uint32_t index = 0;
  Nanoseconds sent{0};
};

// Who sent commands on a session. Each expectation ends in one of both calls, in order.
class Replies {
 public:
  virtual void on_reply(std::uint32_t session, const Expectation& expected, const Reply& reply) = 0;
  // The connection ended; whether the command was executed is not known.
  virtual void on_lost(std::uint32_t session, const Expectation& expected) = 0;
  // What came on the session's channel.
  virtual void on_message(std::uint32_t, const Reply&) {}
  // The session can take commands from now on.
  virtual void on_ready(std::uint32_t) {}

 protected:
  ~Replies() = default;
};

// One connection to one server, kept up: connects, greets, sends commands in order and matches replies to them,
// connects again after a random wait that grows. There is one attempt at a time, however many ask. A server that does
// not answer in time trips a breaker: until it answers probes, nobody waits for it.
//
// Time is told by the owner as time elapsed (ElapsedClock). Threading: Loop-owned. Ownership: borrows wires, replies
// and metrics for its lifetime.
class Session {
 public:
  static constexpr Nanoseconds kPatience = std::chrono::seconds{1};      // with a connection that says nothing
  static constexpr Nanoseconds kTimeInterval = std::chrono::seconds{1};  // between looks at the server's clock
  static constexpr std::size_t kMaxExpected = 65'536;                    // commands that wait for their reply
  static constexpr std::size_t kMaxOutputBytes = std::size_t{8} * 1024 * 1024;

  Session(std::uint32_t number, const SessionSettings& settings, Wires& wires, Replies& replies, RedisMetrics& metrics);

  // Why a command cannot be taken now; nothing: it can.
  [[nodiscard]] std::optional<algorithm::Cause> refusal() const noexcept;

  // To append one command to, followed by `sent`. Requires: no refusal.
  [[nodiscard]] std::string& commands() noexcept { return output_; }
  void sent(std::uint8_t kind, std::uint32_t index);

  // A deadline passed before the reply came.
  void note_timeout() noexcept {
    if (breaker_.note_timeout(elapsed_)) metrics_.breaker_trips.add();
  }

  // Gives the connection up, since the server said that it is of no use now, and tries anew after a wait.
  void leave(algorithm::Cause cause, std::string_view reason);
  // Goes to another server.
  void move_to(const Endpoint& endpoint);

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] const Endpoint& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] bool ready() const noexcept { return state_ == State::ready; }
  [[nodiscard]] bool waits() const noexcept { return !expected_.empty(); }
  // How the script is called; empty where the server does not let us load it, and `script_refusal` says why.
  [[nodiscard]] const std::string& script_name() const noexcept { return script_name_; }
  [[nodiscard]] const std::string& script_refusal() const noexcept { return script_refusal_; }
  // What keeps the session from being ready, for people; empty before the first failure.
  [[nodiscard]] const std::string& last_failure() const noexcept { return last_failure_; }

  // The server's clock less ours, as last seen, and how wrong that may be.
  [[nodiscard]] Nanoseconds clock_offset() const noexcept { return clock_offset_; }
  [[nodiscard]] Nanoseconds clock_error() const noexcept { return clock_error_; }

  // From the wires.
  void opened(Instant now, Nanoseconds elapsed);
  void closed(std::string_view reason, Nanoseconds elapsed);
  void received(std::string_view bytes, Instant now, Nanoseconds elapsed);
  [[nodiscard]] std::string_view output() const noexcept { return std::string_view{output_}.substr(written_); }
  void written(std::size_t bytes);

  void tick(Instant now, Nanoseconds elapsed);

 private:
  enum class State : std::uint8_t { down, connecting, greeting, ready };

  // The kinds of our own commands; others begin after them.
  enum Own : std::uint8_t { kAuth = 240, kSelect, kRole, kScript, kTime, kSubscribe };

  void connect();
  void greet();
  void fail(algorithm::Cause cause, std::string_view reason);
  void ask_time();
  void on_own_reply(const Expectation& expected, const Reply& reply);
  void on_role(const Reply& reply);
  void on_script(const Reply& reply);
  void on_time(const Expectation& expected, const Reply& reply);
  void expect(std::uint8_t kind, std::uint32_t index);
  void take(const Reply& reply);

  const std::uint32_t number_;
  Endpoint endpoint_;
  Greeting greeting_;
  Wires& wires_;
  Replies& replies_;
  RedisMetrics& metrics_;
  Backoff backoff_;
  Breaker breaker_;
  State state_ = State::down;
  Nanoseconds elapsed_{0};
  Nanoseconds state_since_{0};
  Nanoseconds retry_at_{0};
  Instant now_;
  std::string output_;
  std::size_t written_ = 0;
  std::optional<ReplyReader> reader_;
  std::deque<Expectation> expected_;
  std::size_t greetings_left_ = 0;
  std::optional<Instant> time_asked_;
  Nanoseconds time_due_{0};
  Nanoseconds clock_offset_{0};
  Nanoseconds clock_error_{0};
  std::string script_name_;
  std::string script_refusal_;
  std::string last_failure_;
  algorithm::Cause failure_cause_ = algorithm::Cause::refused;
  bool in_received_ = false;
  std::optional<std::string> leave_reason_;  // to leave once all replies at hand are taken
};

}  // namespace penstock::store::redis
