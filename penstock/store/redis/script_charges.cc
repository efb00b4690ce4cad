#include "penstock/store/redis/script_charges.h"

#include <cstring>

#include "penstock/store/redis/window_charge.h"

namespace penstock::store::redis {
namespace {

using algorithm::Cause;
using algorithm::Verb;

bool is_named_window(const Charge& charge) { return kind_of(*charge.limit) == CounterKind::named_window; }

// Where windows are spread they begin by what all nodes know of the counter.
Nanoseconds window_offset(const Charge& charge) {
  if (!charge.limit->spreads_windows()) return Nanoseconds{0};
  const std::array<std::uint8_t, 16> identity = charge.names->shared_identity();
  Hash128 hash;
  std::memcpy(&hash.low, identity.data(), 8);
  std::memcpy(&hash.high, identity.data() + 8, 8);
  return charge.limit->window_offset(hash);
}

}  // namespace

void ScriptCharges::add_group(std::uint32_t group, Verb verb, GroupMode mode, std::span<const Charge> charges,
                              std::span<const Route> routes, std::uint32_t first_charge) {
  const std::uint32_t number = call_for(routes.front(), charges.size());
  Call& call = calls_[number];
  call.script.begin_group(verb, mode, charges.size());
  for (std::uint32_t i = 0; i < charges.size(); ++i) {
    add(call, {.group = group, .charge = first_charge + i}, verb, charges[i], routes[i]);
  }
  if (!call.groups.empty() && call.groups.back() == group) return;
  call.groups.push_back(group);
  traffic_.pending.expect(group, call.session->number());
}

std::uint32_t ScriptCharges::call_for(const Route& route, std::size_t charges) {
  const auto found = open_.find(route.part);
  if (found != open_.end()) {
    if (calls_[found->second].script.has_room_for(charges)) return found->second;
    send(found->second, *calls_[found->second].session, false);
    open_.erase(found);
  }
  const std::uint32_t number = calls_.take();
  Call& call = calls_[number];
  call.script.clear();
  call.session = route.session;
  call.charges.clear();
  call.groups.clear();
  call.with_text = false;
  call.redirects = 0;
  open_.emplace(route.part, number);
  return number;
}

void ScriptCharges::add(Call& call, Place place, Verb verb, const Charge& charge, const Route& route) {
  const bool named = is_named_window(charge);
  const std::optional<Instant> charged_at =
      charge.charged_at >= traffic_.now ? std::nullopt
                                        : std::optional{charge.charged_at + (traffic_.their_now() - traffic_.now)};
  call.script.add({.key = route.key,
                   .limit = charge.limit,
                   .cost = cost_of(verb, charge),
                   .charged_at = charged_at,
                   .window_offset = window_offset(charge),
                   .ttl_seconds = named ? traffic_.ttl_of(*charge.limit) : 0,
                   .observer = charge.observer,
                   .accepts_wait = charge.accepts_wait});
  call.charges.push_back({.place = place,
                          .named_window = named,
                          .capacity = charge.limit->capacity(),
                          .left = named ? named_window(*charge.limit, traffic_.their_now()).left : Nanoseconds{0}});
  traffic_.metrics.script_charges.add();
}

// What belongs to a named window that is over is not given back.
std::uint64_t ScriptCharges::cost_of(Verb verb, const Charge& charge) const {
  if (verb != Verb::refund || charge.charged_at >= traffic_.now || !is_named_window(charge)) return charge.cost;
  const auto window_at = [&](Instant instant) { return named_window(*charge.limit, instant).number; };
  return window_at(charge.charged_at) == window_at(traffic_.now) ? charge.cost : 0;
}

void ScriptCharges::flush() {
  for (const auto& [part, number] : open_) send(number, *calls_[number].session, false);
  open_.clear();
}

void ScriptCharges::send(std::uint32_t number, Session& session, bool with_text) {
  const std::optional<Instant> time = traffic_.options.callers_clock ? std::optional{traffic_.now} : std::nullopt;
  const bool by_name = !with_text && !session.script_name().empty();
  calls_[number].with_text = !by_name;
  calls_[number].script.append_to(session.commands(), by_name ? "EVALSHA" : "EVAL",
                                  by_name ? std::string_view{session.script_name()} : decide_script(), time);
  session.sent(kCall, number);
  traffic_.metrics.script_calls.add();
}

void ScriptCharges::on_reply(std::uint32_t session, std::uint32_t number, const Reply& reply) {
  Call& call = calls_[number];
  if (reply.is_error()) {
    const Failure failure = failure_of(reply);
    if (sent_again(session, number, failure, reply)) return;
    traffic_.heed(session, failure, reply);
    return fail(number, failure.cause);
  }
  decisions_.assign(call.charges.size(), {});
  const std::optional<ScriptHead> head = read_script_reply(reply.text, decisions_);
  if (!head) return fail(number, Cause::script);
  traffic_.metrics.states_mistaken.add(head->mistaken);
  traffic_.metrics.states_rebuilt.add(head->rebuilt);
  for (std::size_t i = 0; i < call.charges.size(); ++i) {
    const Called& charge = call.charges[i];
    if (charge.named_window) fill_in_waits(decisions_[i], charge.capacity, charge.left);
    traffic_.pending.decide(charge.place.group, charge.place.charge, decisions_[i]);
  }
  end(number);
}

// Errors that say that the script did not run, and what to do about it.
bool ScriptCharges::sent_again(std::uint32_t session, std::uint32_t number, const Failure& failure,
                               const Reply& reply) {
  Call& call = calls_[number];
  Session& same = traffic_.fleet.session(session);
  if (failure.script_missing && !call.with_text && !same.refusal()) {
    traffic_.metrics.scripts_missing.add();
    send(number, same, true);
    return true;
  }
  if (call.redirects == kMaxRedirects) return false;
  Session* const other = traffic_.redirect(reply);
  if (other == nullptr) return false;
  ++call.redirects;
  send(number, *other, false);
  return true;
}

void ScriptCharges::fail(std::uint32_t number, Cause cause) {
  for (const Called& charge : calls_[number].charges) {
    traffic_.pending.decide(charge.place.group, charge.place.charge, traffic_.unanswered(cause));
  }
  end(number);
}

// A group that is answered may make its caller ask again at once, so the call is over before.
void ScriptCharges::end(std::uint32_t number) {
  const std::vector<std::uint32_t> groups = calls_[number].groups;
  calls_.give_back(number);
  for (const std::uint32_t group : groups) traffic_.finish(group);
}

}  // namespace penstock::store::redis
