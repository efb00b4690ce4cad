#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/algorithm/algorithm.h"
#include "penstock/store/store.h"

namespace penstock::store::redis {

// The text of scripts/*.lua, whose first part says what is handed over and what comes back.
[[nodiscard]] std::string_view decide_script() noexcept;

// What a counter is to the script. A fixed window is a plain integer whose key names the window, but where windows are
// spread: then the script says which window it is.
enum class CounterKind : std::uint8_t {
  named_window = 1,
  own_window = 2,
  sliding_window = 3,
  sliding_log = 4,
  bucket = 5,
  bucket_with_peak = 6,
};
[[nodiscard]] CounterKind kind_of(const algorithm::Limit& limit) noexcept;

// One charge as the script takes it.
struct ScriptCharge {
  std::string_view key;
  const algorithm::Limit* limit = nullptr;
  std::uint64_t cost = 0;
  std::optional<Instant> charged_at = std::nullopt;  // of a refund; nothing: now
  Nanoseconds window_offset{0};
  std::int64_t ttl_seconds = 0;  // named_window: how long the key is kept
  bool observer = false;
  bool accepts_wait = false;
};

// What the script says of its reply as a whole.
struct ScriptHead {
  Instant now;
  std::uint64_t mistaken = 0;
  std::uint64_t rebuilt = 0;
};

// Groups for one call of the script, on one slot. Reused from call to call. Threading: Value.
class ScriptCall {
 public:
  static constexpr std::size_t kMaxCharges = 64;

  void clear() noexcept;
  [[nodiscard]] bool empty() const noexcept { return charges_ == 0; }
  [[nodiscard]] bool has_room_for(std::size_t charges) const noexcept { return charges_ + charges <= kMaxCharges; }

  // Begins a group; its charges follow.
  void begin_group(algorithm::Verb verb, GroupMode mode, std::size_t charges);
  void add(const ScriptCharge& charge);

  // Appends EVALSHA with the script's name, or EVAL with its text. `now`: nothing, or the time that the script is to
  // take for the server's (tests).
  void append_to(std::string& out, std::string_view command, std::string_view script,
                 const std::optional<Instant>& now) const;

 private:
  [[nodiscard]] std::size_t place_of(std::string_view key);
  [[nodiscard]] std::size_t place_of(const ScriptCharge& charge);

  std::vector<std::string> keys_;  // only the first key_count_ are in use
  std::size_t key_count_ = 0;
  std::vector<algorithm::Limit> limits_;
  std::string packed_limits_;
  std::string packed_groups_;
  std::size_t charges_ = 0;
  bool single_buckets_ = true;  // see scripts/1_single_buckets.lua
};

// Reads a reply: one decision a charge, waits of named windows left at 0. Nothing where it is not what the script
// answers to so many charges.
[[nodiscard]] std::optional<ScriptHead> read_script_reply(std::string_view reply,
                                                          std::span<algorithm::Decision> decisions);

}  // namespace penstock::store::redis
