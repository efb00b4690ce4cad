#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "penstock/algorithm/limit.h"
#include "penstock/rules/rule.h"

// What identifies a counter, as a stream of parts. The keyed hash of a node and the SHA-256 that leaves it take in the
// same stream, and nodes of different versions share counters by it: a change here resets every shared counter.
//
//   part(domain)
//   for each entry:  number(1) part(key) part(value, or the pattern that shares)
//   for the limit:   number(2) number(algorithm) number(window seconds, 0 if none) number(window offset: 0 none, 1 per
//   key) number(rank)
//
// part(text) is number(size) and the bytes; a number is eight bytes, the least significant first.

namespace penstock::rules {

inline constexpr std::uint64_t kEntryTag = 1;
inline constexpr std::uint64_t kLimitTag = 2;

template <class Sink>
void feed_domain(Sink& sink, std::string_view domain) {
  sink.part(domain);
}

template <class Sink>
void feed_entry(Sink& sink, std::string_view key, std::string_view value) {
  sink.number(kEntryTag);
  sink.part(key);
  sink.part(value);
}

template <class Sink>
void feed_limit(Sink& sink, const RuleLimit& limit) {
  sink.number(kLimitTag);
  sink.number(static_cast<std::uint64_t>(limit.limit.algorithm()));
  sink.number(limit.limit.is_window() ? static_cast<std::uint64_t>(limit.limit.window_seconds()) : 0);
  sink.number(limit.limit.spreads_windows() ? 1 : 0);
  sink.number(limit.rank);
}

// The stream as bytes.
class IdentityBytes {
 public:
  void number(std::uint64_t value) {
    char raw[8];
    std::memcpy(raw, &value, 8);
    bytes_.append(raw, 8);
  }

  void part(std::string_view text) {
    number(text.size());
    bytes_.append(text);
  }

  [[nodiscard]] std::string_view view() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace penstock::rules
