#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "penstock/store/store.h"

namespace penstock::store {

// A counter's names, kept for longer than the call that borrowed them. Threading: Value.
class OwnedNames final : public CounterNames {
 public:
  explicit OwnedNames(const CounterNames& names, const algorithm::Limit& limit, Instant now)
      : identity_{names.shared_identity()}, family_{names.shared_family()}, window_seconds_{limit.window_seconds()} {
    std::string key;
    if (!names.append_original_key(now, key)) return;
    original_begin_ = key.substr(0, key.rfind('_') + 1);
    has_original_ = true;
  }

  [[nodiscard]] std::array<std::uint8_t, 16> shared_identity() const override { return identity_; }
  [[nodiscard]] std::uint64_t shared_family() const override { return family_; }

  // The text ends in the window's start.
  [[nodiscard]] bool append_original_key(Instant now, std::string& out) const override {
    if (!has_original_) return false;
    const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    const std::int64_t into = (seconds % window_seconds_ + window_seconds_) % window_seconds_;
    out += original_begin_;
    out += std::to_string(seconds - into);
    return true;
  }

 private:
  std::array<std::uint8_t, 16> identity_;
  std::uint64_t family_;
  std::int64_t window_seconds_;
  std::string original_begin_;
  bool has_original_ = false;
};

}  // namespace penstock::store
