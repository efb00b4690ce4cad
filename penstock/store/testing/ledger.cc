#include "penstock/store/testing/ledger.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace penstock::store::testing {

using algorithm::Decision;
using algorithm::Outcome;

Hash128 counter_named(std::string_view name) {
  SipHasher128 hasher{{.k0 = 1, .k1 = 2}};
  hasher.part(name);
  return hasher.finish();
}

namespace {

// Names that follow from the counter's hash, for stores that ask for them.
class TestNames final : public CounterNames {
 public:
  explicit TestNames(const Hash128& counter) : counter_{counter} {}

  [[nodiscard]] std::array<std::uint8_t, 16> shared_identity() const override {
    std::array<std::uint8_t, 16> identity{};
    std::memcpy(identity.data(), &counter_, identity.size());
    return identity;
  }
  [[nodiscard]] std::uint64_t shared_family() const override { return counter_.low; }
  [[nodiscard]] bool append_original_key(Instant, std::string&) const override { return false; }

 private:
  Hash128 counter_;
};

}  // namespace

std::size_t Ledger::submit(std::span<const GroupOf> groups, Instant now) {
  const std::size_t number = batches_.size();
  std::vector<Group> heads;
  std::vector<Charge> charges;
  for (const GroupOf& group : groups) {
    heads.push_back({.charge_count = static_cast<std::uint32_t>(group.charges.size()),
                     .verb = group.verb,
                     .mode = group.mode,
                     .ticket = {.request = number, .first_decision = static_cast<std::uint32_t>(charges.size())}});
    charges.insert(charges.end(), group.charges.begin(), group.charges.end());
  }
  std::vector<TestNames> names;
  names.reserve(charges.size());
  for (Charge& charge : charges) {
    if (charge.names == nullptr) charge.names = &names.emplace_back(charge.counter);
  }
  // Nothing is answered late before `submit` returns, so the vector's place may change until then.
  std::vector<Decision> decisions(charges.size());
  store_.submit({.groups = heads, .charges = charges, .decisions = decisions}, now, *this);
  batches_.push_back(std::move(decisions));
  return number;
}

std::uint64_t Ledger::pending() const {
  std::uint64_t count = 0;
  for (const std::vector<Decision>& batch : batches_) {
    count += static_cast<std::uint64_t>(std::ranges::count(batch, Outcome::pending, &Decision::outcome));
  }
  return count;
}

void Ledger::on_decided(const Ticket& ticket, std::span<const Decision> decisions) {
  ++late_answers_;
  if (ticket.request >= batches_.size() || ticket.first_decision + decisions.size() > batches_[ticket.request].size()) {
    ++wrong_answers_;
    return;
  }
  const auto place = std::span{batches_[ticket.request]}.subspan(ticket.first_decision, decisions.size());
  const bool expected =
      std::ranges::all_of(place, [](const Decision& decision) { return decision.outcome == Outcome::pending; });
  if (!expected) ++wrong_answers_;
  std::ranges::copy(decisions, place.begin());
}

std::string describe(const Decision& decision) {
  constexpr const char* kOutcomes[] = {"allowed", "denied", "never", "pending", "unanswered"};
  return fmt::format("{}{} remaining {} retry {} ns reset {} ns before {}",
                     kOutcomes[static_cast<std::size_t>(decision.outcome)], decision.charged ? " charged" : "",
                     decision.remaining, decision.retry_after.count(), decision.reset_after.count(),
                     decision.count_before);
}

}  // namespace penstock::store::testing
