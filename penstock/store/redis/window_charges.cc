#include "penstock/store/redis/window_charges.h"

#include <utility>

namespace penstock::store::redis {

using algorithm::Cause;
using algorithm::Verb;

void WindowCharges::charge(Place place, Verb verb, const Charge& charge, const Route& route) {
  const std::uint32_t number = windows_.take();
  Window& window = windows_[number];
  window.place = place;
  window.limit = *charge.limit;
  window.verb = verb;
  window.cost = charge.cost;
  window.now = traffic_.their_now();
  window.key = route.key;
  window.ttl_seconds = traffic_.ttl_of(*charge.limit);
  window.reads = !route.original && (verb == Verb::look || charge.cost == 0);
  window.redirects = 0;
  traffic_.pending.expect(place.group, route.session->number());
  traffic_.metrics.window_charges.add();
  send(number, *route.session);
}

void WindowCharges::send(std::uint32_t number, Session& session) {
  const Window& window = windows_[number];
  if (window.reads) {
    append_command(session.commands(), "GET", window.key);
  } else {
    const std::int64_t added = window.verb == Verb::look ? 0 : increment_of(window.cost);
    append_command(session.commands(), "INCRBY", window.key, Decimal{added});
  }
  session.sent(kWindow, number);
}

void WindowCharges::on_reply(std::uint32_t session, std::uint32_t number, const Reply& reply) {
  if (reply.is_error() && sent_elsewhere(number, reply)) return;
  Window& window = windows_[number];
  const Place place = window.place;
  if (const std::optional<std::int64_t> count = count_in(reply)) {
    traffic_.pending.decide(place.group, place.charge,
                            decision_after(*window.limit, window.verb, window.cost, *count, window.now));
    set_expiry(window, *count);
  } else {
    const Failure failure = failure_of(reply);
    traffic_.pending.decide(place.group, place.charge, traffic_.unanswered(failure.cause));
    traffic_.heed(session, failure, reply);
  }
  windows_.give_back(number);
  traffic_.finish(place.group);
}

// The error says that nothing was counted, so it may be sent again.
bool WindowCharges::sent_elsewhere(std::uint32_t number, const Reply& reply) {
  Window& window = windows_[number];
  if (window.redirects == kMaxRedirects) return false;
  Session* const session = traffic_.redirect(reply);
  if (session == nullptr) return false;
  ++window.redirects;
  send(number, *session);
  return true;
}

// Whether it was counted is not known, but if it was its key may have no expiry.
void WindowCharges::on_lost(std::uint32_t number) {
  const Window& window = windows_[number];
  const Place place = window.place;
  if (!window.reads) {
    const std::uint32_t expiry = expiries_.take();
    expiries_[expiry] = {.key = window.key, .ttl_seconds = window.ttl_seconds};
    owe(expiry);
  }
  traffic_.pending.decide(place.group, place.charge, traffic_.unanswered(Cause::refused));
  windows_.give_back(number);
  traffic_.finish(place.group);
}

void WindowCharges::set_expiry(const Window& window, std::int64_t count) {
  const std::int64_t added = window.verb == Verb::look ? 0 : increment_of(window.cost);
  if (window.reads || (count != added && traffic_.random.below(kExpiryChance) != 0)) return;
  const std::uint32_t number = expiries_.take();
  expiries_[number] = {.key = window.key, .ttl_seconds = window.ttl_seconds};
  send_expiry(number);
}

void WindowCharges::send_expiry(std::uint32_t number) {
  const Expiry& expiry = expiries_[number];
  Session* const session = traffic_.fleet.holder_of(traffic_.fleet.part_of(expiry.key));
  if (session == nullptr || session->refusal()) return owe(number);
  append_command(session->commands(), "EXPIRE", expiry.key, Decimal{expiry.ttl_seconds});
  session->sent(kExpiry, number);
  traffic_.metrics.expiries.add();
}

void WindowCharges::on_expiry_reply(std::uint32_t number, const Reply& reply) {
  if (reply.is_error()) return owe(number);
  expiries_.give_back(number);
}

void WindowCharges::owe(std::uint32_t expiry) {
  if (owed_.size() < kMaxOwedExpiries) {
    owed_.push_back(expiry);
  } else {
    expiries_.give_back(expiry);
  }
}

void WindowCharges::on_ready() {
  for (const std::uint32_t expiry : std::exchange(owed_, {})) send_expiry(expiry);
}

}  // namespace penstock::store::redis
