#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace penstock::transport {

// What all connections of one loop may hold of requests and replies together, so that many small holders cannot do what
// one is kept from. Threading: Loop-owned. Ownership: outlives the accounts that draw from it.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t most) noexcept : most_{most} {}

  [[nodiscard]] bool fits(std::size_t size) const noexcept { return used_ <= most_ && size <= most_ - used_; }
  [[nodiscard]] bool overdrawn() const noexcept { return used_ > most_; }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

  // Whether something did not fit since the last call.
  [[nodiscard]] bool take_refused() noexcept { return std::exchange(refused_, false); }

 private:
  friend class ByteAccount;

  const std::size_t most_;
  std::size_t used_ = 0;
  bool refused_ = false;
};

// What one connection holds of its loop's budget. kAlways of it is granted even where the budget is spent, so that
// those who hold much cannot keep others from asking at all. Threading: Loop-owned.
class ByteAccount {
 public:
  static constexpr std::size_t kAlways = std::size_t{64} * 1024;

  // `budget` may be null: then `most` alone bounds it.
  ByteAccount(ByteBudget* budget, std::size_t most) noexcept : budget_{budget}, most_{most} {}
  ~ByteAccount() { hold(0); }
  ByteAccount(const ByteAccount&) = delete;
  ByteAccount& operator=(const ByteAccount&) = delete;

  enum class Answer : std::uint8_t { yes, connection_full, loop_full };
  [[nodiscard]] Answer may_take(std::size_t size) noexcept {
    if (held_ > most_ || size > most_ - held_) return Answer::connection_full;
    if (budget_ == nullptr || budget_->fits(size) || held_ + size <= kAlways) return Answer::yes;
    budget_->refused_ = true;
    return Answer::loop_full;
  }
  [[nodiscard]] bool overdrawn() const noexcept {
    return held_ > most_ || (budget_ != nullptr && budget_->overdrawn() && held_ > kAlways);
  }

  // From now on it holds so much, whether that fits or not.
  void hold(std::size_t size) noexcept {
    if (budget_ != nullptr) budget_->used_ += size - held_;
    held_ = size;
  }
  void change(std::size_t before, std::size_t after) noexcept { hold(held_ + after - before); }
  [[nodiscard]] std::size_t held() const noexcept { return held_; }

 private:
  ByteBudget* const budget_;
  const std::size_t most_;
  std::size_t held_ = 0;
};

}  // namespace penstock::transport
