#include "penstock/store/redis/fleet.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "penstock/base/check.h"
#include "penstock/base/hash.h"
#include "penstock/store/redis/keys.h"
#include "penstock/store/redis/script_call.h"

namespace penstock::store::redis {
namespace {

constexpr std::uint16_t kNobody = std::numeric_limits<std::uint16_t>::max();

std::uint64_t score_of(std::uint32_t slot, const Endpoint& endpoint) {
  SipHasher128 hasher{HashKey{}};
  hasher.number(slot);
  hasher.part(to_string(endpoint));
  return hasher.finish().low;
}

std::optional<std::int64_t> integer(const Reply& reply, std::size_t element) {
  if (element >= reply.elements.size() || reply.elements[element] == nullptr) return std::nullopt;
  const Reply& value = *reply.elements[element];
  return value.kind == Reply::Kind::integer ? std::optional{value.integer} : std::nullopt;
}

std::optional<std::uint16_t> port_in(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

Fleet::Fleet(const RedisOptions& options, Wires& wires, Replies& replies, RedisMetrics& metrics)
    : options_{options}, wires_{wires}, replies_{replies}, metrics_{metrics} {
  PENSTOCK_CHECK(!options.endpoints.empty());
  if (options.topology == Topology::sentinel) {
    add(Endpoint{.host = {}, .port = 0}, data_greeting());  // goes nowhere until a sentinel says where
    primaries_ = 1;
    for (const Endpoint& endpoint : options.endpoints) {
      add(endpoint, sentinel_greeting(false));
      add(endpoint, sentinel_greeting(true));
    }
    return;
  }
  for (const Endpoint& endpoint : options.endpoints) add(endpoint, data_greeting());
  primaries_ = sessions_.size();
  if (options.topology == Topology::hashed) spread_slots();
  if (options.topology == Topology::cluster) slots_.assign(kSlots, kNobody);
}

std::uint32_t Fleet::add(const Endpoint& endpoint, Greeting greeting) {
  const auto number = static_cast<std::uint32_t>(sessions_.size());
  sessions_.push_back(std::make_unique<Session>(number,
                                                SessionSettings{.endpoint = endpoint,
                                                                .greeting = std::move(greeting),
                                                                .prompt = options_.deadline,
                                                                .seed = options_.seed + number + 1},
                                                wires_, replies_, metrics_));
  return number;
}

Greeting Fleet::data_greeting() const {
  return {.credentials = options_.credentials,
          .database = options_.database,
          .script = decide_script(),
          .needs_primary = options_.topology != Topology::cluster};
}

Greeting Fleet::sentinel_greeting(bool listens) const {
  return {.credentials = options_.sentinel_credentials,
          .needs_primary = false,
          .asks_time = false,
          .channel = listens ? "+switch-master" : ""};
}

void Fleet::spread_slots() {
  slots_.resize(kSlots);
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    std::uint64_t best = 0;
    for (std::size_t i = 0; i < primaries_; ++i) {
      const std::uint64_t score = score_of(slot, options_.endpoints[i]);
      if (i > 0 && score <= best) continue;
      best = score;
      slots_[slot] = static_cast<std::uint16_t>(i);
    }
  }
}

std::uint32_t Fleet::part_of(std::string_view key) const noexcept {
  if (slots_.empty()) return 0;
  const std::uint16_t slot = slot_of(key);
  return options_.topology == Topology::cluster ? slot : slots_[slot];
}

Session* Fleet::holder_of(std::uint32_t part) noexcept {
  if (options_.topology != Topology::cluster) return sessions_[part].get();
  const std::uint16_t number = slots_[part];
  return number == kNobody ? nullptr : sessions_[number].get();
}

void Fleet::tick(Instant now, Nanoseconds elapsed) {
  for (std::size_t i = 0; i < sessions_.size(); ++i) sessions_[i]->tick(now, elapsed);
  if (options_.topology == Topology::sentinel || options_.topology == Topology::cluster) look(elapsed);
}

void Fleet::look(Nanoseconds elapsed) {
  const bool sentinel = options_.topology == Topology::sentinel;
  const bool wrong = sentinel ? !sessions_.front()->ready() : std::ranges::find(slots_, kNobody) != slots_.end();
  if (wrong) look_due_ = Nanoseconds{0};
  if (elapsed < look_due_ || elapsed - last_look_ < kUrgentInterval) return;
  last_look_ = elapsed;
  look_due_ = elapsed + (sentinel ? kLookInterval : kMapInterval);
  if (sentinel) {
    ask_sentinel();
  } else {
    ask_slots();
  }
}

// The next one that can be asked; those that listen cannot.
void Fleet::ask_sentinel() {
  const std::size_t sentinels = options_.endpoints.size();
  for (std::size_t tries = 0; tries < sentinels; ++tries) {
    const std::size_t at = next_sentinel_++ % sentinels;
    Session& session = *sessions_[1 + 2 * at];
    if (session.refusal()) continue;
    append_command(session.commands(), "SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_.primary_name);
    session.sent(kAskPrimary, 0);
    return;
  }
}

void Fleet::ask_slots() {
  for (std::size_t tries = 0; tries < sessions_.size(); ++tries) {
    Session& session = *sessions_[next_sentinel_++ % sessions_.size()];
    if (session.refusal()) continue;
    append_command(session.commands(), "CLUSTER", "SLOTS");
    session.sent(kAskSlots, 0);
    return;
  }
}

void Fleet::on_ready(std::uint32_t number) {
  const bool is_sentinel = options_.topology == Topology::sentinel && number >= primaries_;
  if (is_sentinel || options_.topology == Topology::cluster) look_again();
}

void Fleet::on_reply(std::uint32_t session, const Expectation& expected, const Reply& reply) {
  if (expected.kind == kAskPrimary) on_primary(reply);
  if (expected.kind == kAskSlots) on_slots(session, reply);
}

void Fleet::on_primary(const Reply& reply) {
  if (reply.kind != Reply::Kind::list || reply.elements.size() != 2) return;
  const auto port = port_in(reply.elements[1]->text);
  if (!port || reply.elements[0]->text.empty()) return;
  sessions_.front()->move_to({.host = reply.elements[0]->text, .port = *port, .tls = options_.endpoints.front().tls});
}

// "<name> <old address> <old port> <new address> <new port>"
void Fleet::on_message(const Reply& message) {
  if (message.elements.size() != 3 || message.elements[2] == nullptr) return;
  if (!message.elements[2]->text.starts_with(options_.primary_name + " ")) return;
  look_again();
  last_look_ = Nanoseconds{-1'000'000'000};
}

std::optional<std::uint32_t> Fleet::node_at(const Endpoint& endpoint) {
  for (std::uint32_t i = 0; i < sessions_.size(); ++i) {
    if (sessions_[i]->endpoint() == endpoint) return i;
  }
  if (sessions_.size() >= kMaxNodes) return std::nullopt;
  primaries_ = sessions_.size() + 1;
  return add(endpoint, data_greeting());
}

// Each element: first slot, last slot, the primary's address, port and name, and its replicas. An address that is
// empty is the one that was asked.
void Fleet::on_slots(std::uint32_t asked, const Reply& reply) {
  if (reply.kind != Reply::Kind::list || reply.elements.empty()) return;
  std::vector<std::uint16_t> slots(kSlots, kNobody);
  for (const std::unique_ptr<Reply>& range : reply.elements) {
    if (range == nullptr || range->elements.size() < 3 || range->elements[2]->elements.size() < 2) return;
    const auto first = integer(*range, 0), last = integer(*range, 1), port = integer(*range->elements[2], 1);
    if (!first || !last || !port || *first < 0 || *first > *last || *last >= kSlots || *port < 1 || *port > 65'535)
      return;
    const std::string& host = range->elements[2]->elements[0]->text;
    const auto node = node_at({.host = host.empty() ? sessions_[asked]->endpoint().host : host,
                               .port = static_cast<std::uint16_t>(*port),
                               .tls = options_.endpoints.front().tls});
    if (!node) continue;
    std::fill(slots.begin() + *first, slots.begin() + *last + 1, static_cast<std::uint16_t>(*node));
  }
  slots_ = std::move(slots);
}

std::optional<Endpoint> Fleet::endpoint_in(std::string_view text) const {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = port_in(text.substr(colon + 1));
  if (!port) return std::nullopt;
  return Endpoint{.host = std::string{text.substr(0, colon)}, .port = *port, .tls = options_.endpoints.front().tls};
}

// "MOVED 3999 127.0.0.1:6381", and the same with ASK.
Session* Fleet::redirected(const Reply& error, bool& asks) {
  const std::string_view code = error.error_code();
  asks = code == "ASK";
  if (options_.topology != Topology::cluster || (!asks && code != "MOVED")) return nullptr;
  std::string_view rest = std::string_view{error.text}.substr(std::min(code.size() + 1, error.text.size()));
  std::uint16_t slot = 0;
  const auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), slot);
  if (wrong != std::errc{} || slot >= kSlots || end == rest.data() + rest.size()) return nullptr;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  const auto endpoint = endpoint_in(rest);
  const auto node = endpoint ? node_at(*endpoint) : std::nullopt;
  if (!node) return nullptr;
  metrics_.moved.add();
  if (!asks) {
    slots_[slot] = static_cast<std::uint16_t>(*node);
    look_again();
  }
  return sessions_[*node]->refusal() ? nullptr : sessions_[*node].get();
}

bool Fleet::ready() const noexcept {
  if (options_.topology == Topology::cluster) {
    return std::ranges::any_of(slots_,
                               [this](std::uint16_t node) { return node != kNobody && sessions_[node]->ready(); });
  }
  for (std::size_t i = 0; i < primaries_; ++i) {
    if (!sessions_[i]->ready()) return false;
  }
  return true;
}

std::string Fleet::last_failure() const {
  for (const auto& session : sessions_) {
    if (!session->ready() && !session->last_failure().empty()) return session->last_failure();
  }
  return "";
}

std::string Fleet::script_refusal() const {
  for (std::size_t i = 0; i < primaries_; ++i) {
    if (!sessions_[i]->script_refusal().empty()) return sessions_[i]->script_refusal();
  }
  return "";
}

const Session& Fleet::clock() const noexcept {
  for (std::size_t i = 0; i < primaries_; ++i) {
    if (sessions_[i]->ready()) return *sessions_[i];
  }
  return *sessions_.front();
}

}  // namespace penstock::store::redis
