#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/store/redis/redis_options.h"
#include "penstock/store/redis/session.h"

namespace penstock::store::redis {

// The connections of a store and which of them has a key: one primary, several by hash, one that sentinels name, or the
// primaries of a cluster. Looks after all of them.
//   hashed    rendezvous hashing of the key's slot over the primaries: one that comes or goes moves only its own keys
//   sentinel  asks the sentinels in turn where the primary is: at first, each second, at once when it is lost or turns
//             out to be a replica, and when one of them says +switch-master
//   cluster   asks for the slot map: at first, when a node says MOVED or CLUSTERDOWN or is lost, and now and then
//
// Parts: what one script call may touch. A part is all of a single primary, a slot of a cluster.
// Threading: Loop-owned. Ownership: borrows wires, replies and metrics.
class Fleet {
 public:
  static constexpr std::uint8_t kFirstKind = 16;  // expectations of this kind and above are ours
  static constexpr std::size_t kMaxNodes = 1'000;
  static constexpr Nanoseconds kLookInterval = std::chrono::seconds{1};           // sentinels
  static constexpr Nanoseconds kMapInterval = std::chrono::seconds{5};            // clusters
  static constexpr Nanoseconds kUrgentInterval = std::chrono::milliseconds{100};  // both, when something is wrong

  Fleet(const RedisOptions& options, Wires& wires, Replies& replies, RedisMetrics& metrics);

  [[nodiscard]] std::uint32_t part_of(std::string_view key) const noexcept;
  // The only primary, where there is but one.
  [[nodiscard]] Session* holder_of_all() noexcept { return slots_.empty() ? sessions_.front().get() : nullptr; }
  // Null: nobody is known to have it.
  [[nodiscard]] Session* holder_of(std::uint32_t part) noexcept;

  [[nodiscard]] Session& session(std::uint32_t number) noexcept { return *sessions_[number]; }
  [[nodiscard]] const Session& session(std::uint32_t number) const noexcept { return *sessions_[number]; }

  void tick(Instant now, Nanoseconds elapsed);

  // Of our own kinds.
  void on_reply(std::uint32_t session, const Expectation& expected, const Reply& reply);
  void on_ready(std::uint32_t session);
  void on_message(const Reply& message);

  // Where an error says that a command belongs; null where it says nothing of that, or that node is not ready. `asks`:
  // for this once, after ASKING.
  [[nodiscard]] Session* redirected(const Reply& error, bool& asks);
  // Something is wrong with what we know of the primaries.
  void look_again() noexcept { look_due_ = Nanoseconds{0}; }

  // Whether commands can be sent, at least for some keys.
  [[nodiscard]] bool ready() const noexcept;
  [[nodiscard]] std::string last_failure() const;
  [[nodiscard]] std::string script_refusal() const;
  // Of the first primary that is ready.
  [[nodiscard]] const Session& clock() const noexcept;

 private:
  enum Kind : std::uint8_t { kAskPrimary = kFirstKind, kAskSlots };

  std::uint32_t add(const Endpoint& endpoint, Greeting greeting);
  [[nodiscard]] Greeting data_greeting() const;
  [[nodiscard]] Greeting sentinel_greeting(bool listens) const;
  void spread_slots();
  void look(Nanoseconds elapsed);
  void ask_sentinel();
  void ask_slots();
  void on_primary(const Reply& reply);
  void on_slots(std::uint32_t session, const Reply& reply);
  [[nodiscard]] std::optional<std::uint32_t> node_at(const Endpoint& endpoint);
  [[nodiscard]] std::optional<Endpoint> endpoint_in(std::string_view text) const;

  const RedisOptions options_;
  Wires& wires_;
  Replies& replies_;
  RedisMetrics& metrics_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::size_t primaries_ = 0;         // the first of them; of sentinels those that follow are theirs
  std::vector<std::uint16_t> slots_;  // slot -> session; empty: the first has all
  Nanoseconds look_due_{0};
  Nanoseconds last_look_ = Nanoseconds{-1'000'000'000};
  std::size_t next_sentinel_ = 0;
};

}  // namespace penstock::store::redis
