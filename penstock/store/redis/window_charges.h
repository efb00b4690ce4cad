#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/store/redis/traffic.h"
#include "penstock/store/redis/window_charge.h"

namespace penstock::store::redis {

// Fixed windows that count what they refuse, each by one INCRBY; the expiry follows with the first hit, and after that
// with one hit of kExpiryChance, should that one have been lost. An expiry may be set any number of times, so one that
// was lost with its connection is set again on the next.
// Threading: Loop-owned. Ownership: borrows the traffic.
class WindowCharges {
 public:
  static constexpr std::size_t kMaxOwedExpiries = 4'096;
  static constexpr std::uint64_t kExpiryChance = 64;
  static constexpr std::uint8_t kMaxRedirects = 3;

  explicit WindowCharges(Traffic& traffic) : traffic_{traffic} {}

  void charge(Place place, algorithm::Verb verb, const Charge& charge, const Route& route);

  void on_reply(std::uint32_t session, std::uint32_t number, const Reply& reply);
  void on_lost(std::uint32_t number);
  void on_expiry_reply(std::uint32_t number, const Reply& reply);
  void on_expiry_lost(std::uint32_t number) { owe(number); }
  void on_ready();

 private:
  struct Window {
    Place place;
    std::optional<algorithm::Limit> limit;
    algorithm::Verb verb = algorithm::Verb::decide;
    std::uint64_t cost = 0;
    Instant now;
    std::string key;
    std::int64_t ttl_seconds = 0;
    bool reads = false;  // by GET: nothing was written
    std::uint8_t redirects = 0;
  };
  struct Expiry {
    std::string key;
    std::int64_t ttl_seconds = 0;
  };

  void send(std::uint32_t number, Session& session);
  [[nodiscard]] bool sent_elsewhere(std::uint32_t number, const Reply& reply);
  void set_expiry(const Window& window, std::int64_t count);
  void add_expiry(const Window& window);
  void send_expiry(std::uint32_t number);
  void owe(std::uint32_t expiry);

  Traffic& traffic_;
  Slots<Window> windows_;
  Slots<Expiry> expiries_;
  std::vector<std::uint32_t> owed_;
};

}  // namespace penstock::store::redis
