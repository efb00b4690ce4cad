#include "penstock/store/redis/window_charge.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace penstock::store::redis {

using algorithm::Decision;
using algorithm::Outcome;
using algorithm::Verb;

NamedWindow named_window(const algorithm::Limit& limit, Instant now) noexcept {
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const std::int64_t length = limit.window_seconds();
  const std::int64_t into = (seconds % length + length) % length;
  const Instant end = instant_from_unix_seconds(seconds - into + length);
  return {.number = (seconds - into) / length, .left = end - now};
}

std::int64_t increment_of(std::uint64_t cost) noexcept {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(cost, std::numeric_limits<std::int64_t>::max()));
}

Decision decision_after(const algorithm::Limit& limit, Verb verb, std::uint64_t cost, std::int64_t count_after,
                        Instant now) noexcept {
  const std::int64_t added = verb == Verb::look ? 0 : increment_of(cost);
  const auto before = static_cast<std::uint64_t>(std::max<std::int64_t>(0, count_after - added));
  const algorithm::Ask counted = {.verb = Verb::debit, .cost = before, .now = now};
  const algorithm::State state = algorithm::apply(limit, {}, counted).state;
  return algorithm::apply(limit, state, {.verb = verb, .cost = cost, .now = now}).decision;
}

void fill_in_waits(Decision& decision, std::uint32_t capacity, Nanoseconds left) noexcept {
  if (decision.outcome == Outcome::denied) decision.retry_after = left;
  const bool something = decision.charged || decision.count_before > 0;
  const bool counted = decision.remaining < capacity || (capacity == 0 && something);
  decision.reset_after = counted ? left : Nanoseconds{0};
}

std::optional<std::int64_t> count_in(const Reply& reply) noexcept {
  if (reply.kind == Reply::Kind::integer) return reply.integer;
  if (reply.kind == Reply::Kind::nil) return 0;
  if (reply.is_error() && reply.text.find("would overflow") != std::string::npos) {
    return std::numeric_limits<std::int64_t>::max();
  }
  if (reply.kind != Reply::Kind::text) return std::nullopt;
  std::int64_t value = 0;
  const char* const end = reply.text.data() + reply.text.size();
  const auto [parsed, error] = std::from_chars(reply.text.data(), end, value);
  if (error != std::errc{} || parsed != end) return std::nullopt;
  return value;
}

}  // namespace penstock::store::redis
