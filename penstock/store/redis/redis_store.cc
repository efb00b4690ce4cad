#include "penstock/store/redis/redis_store.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "penstock/store/group.h"
#include "penstock/store/redis/elapsed_clock.h"
#include "penstock/store/redis/keys.h"
#include "penstock/store/redis/script_charges.h"
#include "penstock/store/redis/traffic.h"
#include "penstock/store/redis/window_charges.h"

namespace penstock::store::redis {

using algorithm::Cause;
using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;

class RedisStore::Impl final : public Replies {
 public:
  Impl(const RedisOptions& options, Wires& wires) : traffic_{options, wires, *this, kMaxPending} {}

  void submit(const Batch& batch, Instant now, LateDecisions& late) {
    read_clock(now);
    std::size_t next = 0;
    for (const Group& group : batch.groups) {
      const auto charges = batch.charges.subspan(next, group.charge_count);
      const auto decisions = batch.decisions.subspan(next, group.charge_count);
      next += group.charge_count;
      if (const std::optional<Cause> refusal = find_routes(group, charges)) {
        traffic_.count_unanswered(*refusal, charges.size());
        std::ranges::fill(decisions, Decision{.outcome = Outcome::unanswered, .cause = *refusal});
      } else {
        std::ranges::fill(decisions, Decision{.outcome = Outcome::pending});
        start(group, charges, late);
      }
    }
    calls_.flush();
  }

  std::uint32_t part_of(const Charge& charge) {
    if (traffic_.options.topology == Topology::single || traffic_.options.topology == Topology::sentinel) return 0;
    make_key(charge, lone_);
    return traffic_.fleet.part_of(lone_.key);
  }

  void on_reply(std::uint32_t session, const Expectation& expected, const Reply& reply) override {
    if (expected.kind >= Fleet::kFirstKind) return traffic_.fleet.on_reply(session, expected, reply);
    switch (expected.kind) {
      case kWindow: return windows_.on_reply(session, expected.index, reply);
      case kCall: return calls_.on_reply(session, expected.index, reply);
      case kExpiry: return windows_.on_expiry_reply(expected.index, reply);
      default: return;
    }
  }

  void on_lost(std::uint32_t, const Expectation& expected) override {
    traffic_.fleet.look_again();
    switch (expected.kind) {
      case kWindow: return windows_.on_lost(expected.index);
      case kCall: return calls_.on_lost(expected.index);
      case kExpiry: return windows_.on_expiry_lost(expected.index);
      default: return;
    }
  }

  void on_message(std::uint32_t, const Reply& message) override { traffic_.fleet.on_message(message); }

  void on_ready(std::uint32_t session) override {
    traffic_.fleet.on_ready(session);
    windows_.on_ready();
  }

  void tick(Instant now) {
    read_clock(now);
    traffic_.fleet.tick(now, traffic_.elapsed);
    traffic_.pending.expire(traffic_.elapsed,
                            [this](const std::vector<std::uint32_t>& sessions, std::size_t undecided) {
                              traffic_.count_unanswered(Cause::timeout, undecided);
                              for (const std::uint32_t session : sessions)
                                traffic_.fleet.session(session).note_timeout();
                            });
  }

  [[nodiscard]] Nanoseconds until_tick() const {
    return std::clamp(traffic_.pending.next_deadline() - traffic_.elapsed, Nanoseconds{0}, kIdleTick);
  }

  // What is sent in answer to a reply comes with the instant of the question, which is no clock that was set back.
  Nanoseconds read_clock(Instant now) {
    constexpr Nanoseconds kStale = std::chrono::milliseconds{120};
    if (now < traffic_.now && traffic_.now - now < kStale) now = traffic_.now;
    traffic_.now = now;
    return traffic_.elapsed = clock_.read(now);
  }

  [[nodiscard]] Traffic& traffic() { return traffic_; }

 private:
  // By INCRBY, or by GET.
  static bool is_window_charge(const Group& group, std::span<const Charge> charges, const Charge& charge) {
    return decided_singly(group, charges) && group.verb != Verb::refund && charge.limit->counts_refused() &&
           kind_of(*charge.limit) == CounterKind::named_window;
  }

  // Where each charge goes, or why the group cannot even be asked.
  [[nodiscard]] std::optional<Cause> find_routes(const Group& group, std::span<const Charge> charges) {
    if (traffic_.pending.full()) return Cause::overloaded;
    if (routes_.size() < charges.size()) routes_.resize(charges.size());
    for (std::size_t i = 0; i < charges.size(); ++i) {
      Route& route = routes_[i];
      // What cannot be sent at all needs no key.
      if (Session* const only = traffic_.fleet.holder_of_all()) {
        if (const auto refusal = only->refusal()) return refusal;
      }
      make_key(charges[i], route);
      route.part = traffic_.fleet.part_of(route.key);
      route.session = traffic_.fleet.holder_of(route.part);
      route.by_window = is_window_charge(group, charges, charges[i]);
      if (route.session == nullptr) return Cause::refused;
      if (const auto refusal = route.session->refusal()) return refusal;
      if (!route.by_window && !route.session->script_refusal().empty()) return Cause::script;
    }
    return std::nullopt;
  }

  void make_key(const Charge& charge, Route& route) {
    const Instant now = traffic_.their_now();
    const bool named = kind_of(*charge.limit) == CounterKind::named_window;
    route.key.assign(traffic_.options.key_prefix);
    route.original =
        named && traffic_.options.keys == KeyFormat::original && charge.names->append_original_key(now, route.key);
    if (route.original) return;
    append_compact_key(route.key, charge.names->shared_family(), charge.names->shared_identity());
    if (named) route.key.append(Decimal{named_window(*charge.limit, now).number});
  }

  void start(const Group& group, std::span<const Charge> charges, LateDecisions& late) {
    const Nanoseconds deadline = traffic_.elapsed + budget_of(group);
    const std::uint32_t number = traffic_.pending.begin(group.ticket, charges.size(), late, deadline);
    if (!decided_singly(group, charges)) {
      calls_.add_group(number, group.verb, group.mode, charges, std::span{routes_}.first(charges.size()), 0);
      return;
    }
    for (std::uint32_t i = 0; i < charges.size(); ++i) {
      if (routes_[i].by_window) {
        windows_.charge({.group = number, .charge = i}, group.verb, charges[i], routes_[i]);
      } else {
        calls_.add_group(number, group.verb, GroupMode::each, charges.subspan(i, 1), {&routes_[i], 1}, i);
      }
    }
  }

  [[nodiscard]] Nanoseconds budget_of(const Group& group) const {
    if (group.deadline == Instant::max()) return traffic_.options.deadline;
    return std::clamp(group.deadline - traffic_.now, Nanoseconds{0}, traffic_.options.deadline);
  }

  ElapsedClock clock_;
  Traffic traffic_;
  WindowCharges windows_{traffic_};
  ScriptCharges calls_{traffic_};
  std::vector<Route> routes_;  // of the group at hand
  Route lone_;
};

RedisStore::RedisStore(const RedisOptions& options, Wires& wires) : impl_{std::make_unique<Impl>(options, wires)} {}
RedisStore::~RedisStore() = default;

void RedisStore::submit(const Batch& batch, Instant now, LateDecisions& late) { impl_->submit(batch, now, late); }
std::uint32_t RedisStore::part_of(const Charge& charge) const { return impl_->part_of(charge); }

void RedisStore::opened(std::uint32_t wire, Instant now) {
  const Nanoseconds elapsed = impl_->read_clock(now);
  impl_->traffic().fleet.session(wire).opened(now, elapsed);
}
void RedisStore::closed(std::uint32_t wire, std::string_view reason, Instant now) {
  const Nanoseconds elapsed = impl_->read_clock(now);
  impl_->traffic().fleet.session(wire).closed(reason, elapsed);
}
void RedisStore::received(std::uint32_t wire, std::string_view bytes, Instant now) {
  const Nanoseconds elapsed = impl_->read_clock(now);
  impl_->traffic().fleet.session(wire).received(bytes, now, elapsed);
}
std::string_view RedisStore::output(std::uint32_t wire) const { return impl_->traffic().fleet.session(wire).output(); }
void RedisStore::written(std::uint32_t wire, std::size_t bytes) { impl_->traffic().fleet.session(wire).written(bytes); }
void RedisStore::tick(Instant now) { impl_->tick(now); }
Nanoseconds RedisStore::until_tick() const { return impl_->until_tick(); }

const RedisMetrics& RedisStore::metrics() const noexcept { return impl_->traffic().metrics; }
std::size_t RedisStore::pending() const noexcept { return impl_->traffic().pending.waiting(); }
bool RedisStore::ready() const { return impl_->traffic().fleet.ready(); }
std::string RedisStore::last_failure() const { return impl_->traffic().fleet.last_failure(); }
std::string RedisStore::script_refusal() const { return impl_->traffic().fleet.script_refusal(); }
Nanoseconds RedisStore::clock_offset() const { return impl_->traffic().fleet.clock().clock_offset(); }
Nanoseconds RedisStore::clock_error() const { return impl_->traffic().fleet.clock().clock_error(); }

}  // namespace penstock::store::redis
