#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "penstock/base/random.h"
#include "penstock/store/redis/failure.h"
#include "penstock/store/redis/fleet.h"
#include "penstock/store/redis/pending.h"
#include "penstock/store/redis/redis_metrics.h"
#include "penstock/store/redis/redis_options.h"

namespace penstock::store::redis {

// What the expectations of a store's own commands are for; Fleet has others.
enum TrafficKind : std::uint8_t { kWindow, kCall, kExpiry, kAsking };

// A charge of a pending group.
struct Place {
  std::uint32_t group = 0;
  std::uint32_t charge = 0;
};

// Where a charge goes, and under which key.
struct Route {
  std::string key;
  Session* session = nullptr;
  std::uint32_t part = 0;
  bool by_window = false;  // by INCRBY or GET; else by the script
  bool original = false;   // the key is that of envoyproxy/ratelimit
};

// What the parts of a store share. Threading: Loop-owned.
struct Traffic {
  Traffic(const RedisOptions& with, Wires& wires, Replies& replies, std::size_t most_pending)
      : options{with}, fleet{with, wires, replies, metrics}, pending{most_pending}, random{with.seed} {}

  const RedisOptions options;
  RedisMetrics metrics;
  Fleet fleet;
  PendingGroups pending;
  Random random;
  Instant now;
  Nanoseconds elapsed{0};

  // The server's time, as far as we know.
  [[nodiscard]] Instant their_now() const { return options.callers_clock ? now : now + fleet.clock().clock_offset(); }

  // Windows: as in envoyproxy/ratelimit a whole one from now, and some more at random.
  [[nodiscard]] std::int64_t ttl_of(const algorithm::Limit& limit) {
    const auto jitter = static_cast<std::uint64_t>(options.jitter_seconds);
    return limit.window_seconds() + (jitter > 1 ? static_cast<std::int64_t>(random.below(jitter)) : 0);
  }

  [[nodiscard]] algorithm::Decision unanswered(algorithm::Cause cause) {
    count_unanswered(cause, 1);
    return {.outcome = algorithm::Outcome::unanswered, .cause = cause};
  }
  void count_unanswered(algorithm::Cause cause, std::size_t charges);

  // A reply that was expected for the group came, or never will.
  void finish(std::uint32_t group) {
    if (pending.arrived(group)) metrics.late_replies.add();
  }

  // What an error asks for beside an answer.
  void heed(std::uint32_t session, const Failure& failure, const Reply& reply) {
    if (failure.look_again) fleet.look_again();
    if (failure.leave) fleet.session(session).leave(failure.cause, reply.text);
  }

  // The session to send the command to that got this error; null: none. Says ASKING first where that is asked for.
  [[nodiscard]] Session* redirect(const Reply& error);
};

}  // namespace penstock::store::redis
