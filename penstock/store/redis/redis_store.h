#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/instant.h"
#include "penstock/store/redis/redis_metrics.h"
#include "penstock/store/redis/redis_options.h"
#include "penstock/store/redis/wires.h"
#include "penstock/store/store.h"

namespace penstock::store::redis {

// Counters in a Redis that many nodes share. Fixed windows that count what they refuse are counted by INCRBY, as
// envoyproxy/ratelimit does; everything else by one script (scripts/*.lua), many charges a call, with the server's
// clock. Commands of a turn go out in one write. A group is answered when its own charges are decided or its deadline
// passed, whichever comes first; nothing is sent a second time that may have been executed.
//
// A state machine: bytes in, bytes out, time as an argument. Whoever owns the sockets implements Wires, hands in what
// happens to them, and calls `tick` when `until_tick` has passed.
//
// Where a group has no answer its decisions say why:
//   timeout     no reply before the deadline; what was charged is not known
//   refused     not connected, or the server refuses: loading, out of memory, no permission
//   readonly    it is a replica
//   overloaded  more waits for it than Session::kMaxExpected or kMaxPending
//   breaker     it did not answer several in a row, and is not waited for until it does
//   script      the script could not run
//
// Bounds beyond the algorithms' own: windows of mode `original` are named by this node's estimate of the server's
// clock; clocks that are wrong by e add what passes in e at each boundary. A script sees one clock.
//
// Threading: Loop-owned. Cost: docs/redis.md.
class RedisStore final : public Store {
 public:
  static constexpr std::size_t kMaxPending = 65'536;  // groups that wait for an answer

  RedisStore(const RedisOptions& options, Wires& wires);
  ~RedisStore() override;
  RedisStore(const RedisStore&) = delete;
  RedisStore& operator=(const RedisStore&) = delete;

  void submit(const Batch& batch, Instant now, LateDecisions& late) override;
  // The primary, or in a cluster the slot.
  [[nodiscard]] std::uint32_t part_of(const Charge& charge) const override;

  // From the wires.
  void opened(std::uint32_t wire, Instant now);
  void closed(std::uint32_t wire, std::string_view reason, Instant now);
  void received(std::uint32_t wire, std::string_view bytes, Instant now);
  [[nodiscard]] std::string_view output(std::uint32_t wire) const;
  void written(std::uint32_t wire, std::size_t bytes);

  // Gives up what is late, connects, looks after connections.
  void tick(Instant now);
  // How long until the next `tick` matters, as of the last call with a time; at most kIdleTick.
  static constexpr Nanoseconds kIdleTick = std::chrono::milliseconds{20};
  [[nodiscard]] Nanoseconds until_tick() const;

  [[nodiscard]] const RedisMetrics& metrics() const noexcept;
  // Groups that were not answered yet.
  [[nodiscard]] std::size_t pending() const noexcept;
  // For people: whether it is connected, and else why not.
  [[nodiscard]] bool ready() const;
  [[nodiscard]] std::string last_failure() const;
  // Why the script may not be used, as the server put it; empty where it may.
  [[nodiscard]] std::string script_refusal() const;
  // The server's clock less ours, and how wrong that may be.
  [[nodiscard]] Nanoseconds clock_offset() const;
  [[nodiscard]] Nanoseconds clock_error() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::store::redis
