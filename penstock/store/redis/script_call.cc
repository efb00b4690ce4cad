#include "penstock/store/redis/script_call.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "penstock/base/check.h"
#include "penstock/store/redis/resp.h"
#include "penstock/store/redis/scale.h"

namespace penstock::store::redis {
namespace {

using algorithm::Decision;
using algorithm::Limit;
using algorithm::Outcome;

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kMostExact = (std::uint64_t{1} << kExactBits) - 1;
constexpr std::size_t kHeadBytes = 3 * sizeof(double);
constexpr std::size_t kDecisionBytes = 2 + 4 * sizeof(double);

template <class Value>
void append(std::string& out, Value value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out.append(raw, sizeof value);
}

void append_number(std::string& out, std::int64_t value) { append(out, static_cast<double>(value)); }

double number_at(std::string_view bytes, std::size_t at) {
  double value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::int64_t microseconds(Instant instant) {
  return std::chrono::floor<std::chrono::microseconds>(instant.time_since_epoch()).count();
}

// What a bucket refills by, in lowest terms.
BucketRate rate_of(const algorithm::Ticks& ticks, Nanoseconds max_wait) {
  const std::int64_t common = std::gcd(ticks.per_second, ticks.per_cost);
  return {.amount = static_cast<std::uint32_t>(ticks.per_second / common),
          .window_seconds = ticks.per_cost / common,
          .burst = static_cast<std::uint32_t>(ticks.per_burst / ticks.per_cost),
          .max_wait = max_wait};
}

void append_meter(std::string& out, const BucketScale& scale) {
  for (const std::int64_t value : {scale.credits, scale.price, scale.room, scale.tick_us, scale.wait}) {
    append_number(out, value);
  }
}

// Two bytes and 14 numbers: amount, window (of a named window the seconds to keep it, of a bucket the longest wait),
// tick and parts of a sliding window, and two meters.
void append_limit(std::string& out, const Limit& limit, std::int64_t ttl_seconds) {
  const CounterKind kind = kind_of(limit);
  append(out, static_cast<std::uint8_t>(kind));
  append(out, static_cast<std::uint8_t>(limit.counts_refused() ? 1 : 0));
  append_number(out, limit.capacity());
  std::int64_t window = limit.window_seconds() * 1'000'000;
  if (kind == CounterKind::named_window) window = ttl_seconds;
  if (limit.is_bucket()) window = limit.max_wait().count() / 1'000;
  append_number(out, window);
  const SlidingScale sliding =
      kind == CounterKind::sliding_window ? sliding_scale(limit.amount(), limit.window_seconds()) : SlidingScale{};
  append_number(out, sliding.tick_us);
  append_number(out, sliding.parts);
  append_meter(out, limit.is_bucket() ? bucket_scale(rate_of(limit.ticks(), limit.max_wait())) : BucketScale{});
  append_meter(out, limit.has_peak() ? bucket_scale(rate_of(limit.peak_ticks(), limit.max_wait())) : BucketScale{});
}

Nanoseconds wait_from(double microseconds) {
  constexpr double kMost = 9e15;
  if (!(microseconds > 0)) return Nanoseconds{0};
  return std::chrono::microseconds{static_cast<std::int64_t>(std::min(microseconds, kMost))};
}

std::uint64_t count_from(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::min(value, static_cast<double>(kMostExact))) : 0;
}

}  // namespace

CounterKind kind_of(const Limit& limit) noexcept {
  switch (limit.algorithm()) {
    case algorithm::Algorithm::fixed_window:
      return limit.spreads_windows() ? CounterKind::own_window : CounterKind::named_window;
    case algorithm::Algorithm::sliding_window: return CounterKind::sliding_window;
    case algorithm::Algorithm::sliding_log: return CounterKind::sliding_log;
    case algorithm::Algorithm::gcra:
    case algorithm::Algorithm::token_bucket:
    case algorithm::Algorithm::leaky_bucket: break;
  }
  return limit.has_peak() ? CounterKind::bucket_with_peak : CounterKind::bucket;
}

void ScriptCall::clear() noexcept {
  key_count_ = 0;
  limits_.clear();
  packed_limits_.clear();
  packed_groups_.clear();
  charges_ = 0;
  single_buckets_ = true;
}

void ScriptCall::begin_group(algorithm::Verb verb, GroupMode mode, std::size_t charges) {
  const bool plain_verb = verb == algorithm::Verb::decide || verb == algorithm::Verb::look;
  if (charges != 1 || mode != GroupMode::each || !plain_verb) single_buckets_ = false;
  append(packed_groups_, static_cast<std::uint8_t>(verb));
  append(packed_groups_, static_cast<std::uint8_t>(mode));
  append(packed_groups_, static_cast<std::uint16_t>(charges));
}

std::size_t ScriptCall::place_of(std::string_view key) {
  for (std::size_t i = 0; i < key_count_; ++i) {
    if (keys_[i] == key) return i + 1;
  }
  if (key_count_ == keys_.size()) keys_.emplace_back();
  keys_[key_count_].assign(key);
  return ++key_count_;
}

std::size_t ScriptCall::place_of(const ScriptCharge& charge) {
  const auto found = std::ranges::find(limits_, *charge.limit);
  if (found != limits_.end()) return static_cast<std::size_t>(found - limits_.begin()) + 1;
  limits_.push_back(*charge.limit);
  append_limit(packed_limits_, *charge.limit, charge.ttl_seconds);
  return limits_.size();
}

void ScriptCall::add(const ScriptCharge& charge) {
  PENSTOCK_DCHECK(has_room_for(1));
  const Limit& limit = *charge.limit;
  const bool plain = kind_of(limit) == CounterKind::bucket && !limit.counts_refused();
  if (!plain || limit.max_wait() > Nanoseconds{0}) single_buckets_ = false;
  append(packed_groups_, static_cast<std::uint16_t>(place_of(charge.key)));
  append(packed_groups_, static_cast<std::uint16_t>(place_of(charge)));
  append(packed_groups_, static_cast<std::uint8_t>((charge.observer ? 1 : 0) | (charge.accepts_wait ? 2 : 0)));
  append_number(packed_groups_, static_cast<std::int64_t>(std::min(charge.cost, kMostExact)));
  append_number(packed_groups_, charge.charged_at ? microseconds(*charge.charged_at) : -1);
  append_number(packed_groups_, charge.window_offset.count() / 1'000);
  ++charges_;
}

void ScriptCall::append_to(std::string& out, std::string_view command, std::string_view script,
                           const std::optional<Instant>& now) const {
  const Decimal key_count{static_cast<std::int64_t>(key_count_)};
  const Decimal time{now ? microseconds(*now) : 0};
  std::vector<std::string_view> parts = {command, script, key_count};
  parts.reserve(parts.size() + key_count_ + 4);
  for (std::size_t i = 0; i < key_count_; ++i) parts.emplace_back(keys_[i]);
  parts.push_back(now ? std::string_view{time} : std::string_view{});
  parts.emplace_back(packed_limits_);
  parts.emplace_back(packed_groups_);
  parts.emplace_back(single_buckets_ ? "b" : "");
  append_command(out, std::span<const std::string_view>{parts});
}

std::optional<ScriptHead> read_script_reply(std::string_view reply, std::span<Decision> decisions) {
  if (reply.size() != kHeadBytes + decisions.size() * kDecisionBytes) return std::nullopt;
  const std::int64_t now_us = static_cast<std::int64_t>(count_from(number_at(reply, 0)));
  const ScriptHead head = {.now = Instant{std::chrono::microseconds{now_us}},
                           .mistaken = count_from(number_at(reply, 8)),
                           .rebuilt = count_from(number_at(reply, 16))};
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const std::string_view packed = reply.substr(kHeadBytes + i * kDecisionBytes, kDecisionBytes);
    Decision& decision = decisions[i];
    const auto outcome = static_cast<std::uint8_t>(packed[0]);
    if (outcome > static_cast<std::uint8_t>(Outcome::never)) return std::nullopt;
    decision = {.outcome = static_cast<Outcome>(outcome), .charged = packed[1] != 0};
    decision.remaining =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(count_from(number_at(packed, 2)), 0xffff'ffff));
    decision.retry_after = decision.outcome == Outcome::never ? Decision::kNever : wait_from(number_at(packed, 10));
    decision.reset_after = wait_from(number_at(packed, 18));
    decision.count_before = count_from(number_at(packed, 26));
  }
  return head;
}

}  // namespace penstock::store::redis
