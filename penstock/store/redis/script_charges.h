#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "penstock/store/redis/script_call.h"
#include "penstock/store/redis/traffic.h"

namespace penstock::store::redis {

// Charges that the script decides, gathered into calls: one after the other for each part, each of up to
// ScriptCall::kMaxCharges. Threading: Loop-owned. Ownership: borrows the traffic.
class ScriptCharges {
 public:
  static constexpr std::uint8_t kMaxRedirects = 3;

  explicit ScriptCharges(Traffic& traffic) : traffic_{traffic} {}

  // Adds charges of a pending group as one group of the script, or as one of several where they stand alone.
  // Requires: all routes have one part and one session.
  void add_group(std::uint32_t group, algorithm::Verb verb, GroupMode mode, std::span<const Charge> charges,
                 std::span<const Route> routes, std::uint32_t first_charge);
  // Sends what was gathered.
  void flush();

  void on_reply(std::uint32_t session, std::uint32_t number, const Reply& reply);
  void on_lost(std::uint32_t number) { fail(number, algorithm::Cause::refused); }

 private:
  struct Called {
    Place place;
    bool named_window = false;
    std::uint32_t capacity = 0;
    Nanoseconds left{0};  // of a named window
  };
  struct Call {
    ScriptCall script;
    Session* session = nullptr;
    std::vector<Called> charges;
    std::vector<std::uint32_t> groups;  // one of each group for which the reply is expected
    bool with_text = false;
    std::uint8_t redirects = 0;
  };

  [[nodiscard]] std::uint32_t call_for(const Route& route, std::size_t charges);
  void add(Call& call, Place place, algorithm::Verb verb, const Charge& charge, const Route& route);
  [[nodiscard]] std::uint64_t cost_of(algorithm::Verb verb, const Charge& charge) const;
  void send(std::uint32_t number, Session& session, bool with_text);
  [[nodiscard]] bool sent_again(std::uint32_t session, std::uint32_t number, const Failure& failure,
                                const Reply& reply);
  void fail(std::uint32_t number, algorithm::Cause cause);
  void end(std::uint32_t number);

  Traffic& traffic_;
  Slots<Call> calls_;
  std::map<std::uint32_t, std::uint32_t> open_;  // part -> call that is being gathered
  std::vector<algorithm::Decision> decisions_;
};

}  // namespace penstock::store::redis
