#include "penstock/store/redis/session.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "penstock/base/check.h"

namespace penstock::store::redis {
namespace {

using algorithm::Cause;

std::optional<std::int64_t> number_in(const Reply& reply) {
  if (reply.kind == Reply::Kind::integer) return reply.integer;
  std::int64_t value = 0;
  const char* const end = reply.text.data() + reply.text.size();
  const auto [parsed, error] = std::from_chars(reply.text.data(), end, value);
  if (reply.kind != Reply::Kind::text || error != std::errc{} || parsed != end) return std::nullopt;
  return value;
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  if (endpoint.is_unix()) return endpoint.host;
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", endpoint.host, endpoint.port) : fmt::format("{}:{}", endpoint.host, endpoint.port);
}

Session::Session(std::uint32_t number, const SessionSettings& settings, Wires& wires, Replies& replies,
                 RedisMetrics& metrics)
    : number_{number},
      endpoint_{settings.endpoint},
      greeting_{settings.greeting},
      wires_{wires},
      replies_{replies},
      metrics_{metrics},
      backoff_{settings.seed},
      breaker_{settings.prompt} {}

std::optional<Cause> Session::refusal() const noexcept {
  if (state_ != State::ready) return failure_cause_;
  if (breaker_.open()) return Cause::breaker;
  if (!greeting_.channel.empty()) return Cause::refused;
  if (expected_.size() >= kMaxExpected || output_.size() - written_ >= kMaxOutputBytes) return Cause::overloaded;
  return std::nullopt;
}

void Session::expect(std::uint8_t kind, std::uint32_t index) {
  expected_.push_back({.kind = kind, .index = index, .sent = elapsed_});
}

void Session::sent(std::uint8_t kind, std::uint32_t index) {
  PENSTOCK_DCHECK(kind < kAuth);
  expect(kind, index);
  wires_.has_output(number_);
}

void Session::connect() {
  state_ = State::connecting;
  state_since_ = elapsed_;
  metrics_.connects.add();
  wires_.open(number_, endpoint_);
}

void Session::opened(Instant now, Nanoseconds elapsed) {
  if (state_ != State::connecting) return;
  now_ = now;
  elapsed_ = elapsed;
  state_ = State::greeting;
  reader_.emplace();
  greet();
}

void Session::greet() {
  const Credentials credentials = greeting_.credentials ? greeting_.credentials() : Credentials{};
  if (!credentials.user.empty()) {
    append_command(output_, "AUTH", credentials.user, credentials.password);
    expect(kAuth, 0);
  } else if (!credentials.password.empty()) {
    append_command(output_, "AUTH", credentials.password);
    expect(kAuth, 0);
  }
  if (greeting_.database != 0) {
    append_command(output_, "SELECT", Decimal{greeting_.database});
    expect(kSelect, 0);
  }
  if (greeting_.needs_primary) {
    append_command(output_, "ROLE");
    expect(kRole, 0);
  }
  if (!greeting_.script.empty()) {
    append_command(output_, "SCRIPT", "LOAD", greeting_.script);
    expect(kScript, 0);
  }
  if (greeting_.asks_time) ask_time();
  if (!greeting_.channel.empty()) {
    append_command(output_, "SUBSCRIBE", greeting_.channel);
    expect(kSubscribe, 0);
  }
  if (expected_.empty()) {
    append_command(output_, "PING");
    expect(kSubscribe, 0);
  }
  greetings_left_ = expected_.size();
  wires_.has_output(number_);
}

void Session::ask_time() {
  append_command(output_, "TIME");
  expect(kTime, 0);
  time_asked_ = now_;
  time_due_ = elapsed_ + kTimeInterval;
}

void Session::written(std::size_t bytes) {
  written_ += bytes;
  PENSTOCK_DCHECK(written_ <= output_.size());
  if (written_ < output_.size()) return;
  output_.clear();
  written_ = 0;
}

void Session::received(std::string_view bytes, Instant now, Nanoseconds elapsed) {
  if (!reader_) return;
  now_ = now;
  elapsed_ = elapsed;
  in_received_ = true;
  bool sound = reader_->feed(bytes);
  while (sound && !leave_reason_) {
    const std::unique_ptr<Reply> reply = reader_->next();
    if (!reply) break;
    if (expected_.empty() && !greeting_.channel.empty()) {
      replies_.on_message(number_, *reply);
    } else if (expected_.empty()) {
      sound = false;
    } else {
      take(*reply);
    }
  }
  sound = sound && !reader_->broken();
  in_received_ = false;
  if (!sound) {
    fail(Cause::refused, "it sent what is no reply");
  } else if (leave_reason_) {
    fail(failure_cause_, std::exchange(leave_reason_, std::nullopt).value());
  }
}

void Session::take(const Reply& reply) {
  const Expectation expected = expected_.front();
  expected_.pop_front();
  breaker_.note_answer(elapsed_ - expected.sent);
  const bool greets = greetings_left_ > 0;
  if (expected.kind >= kAuth) {
    on_own_reply(expected, reply);
  } else {
    backoff_.reset();
    replies_.on_reply(number_, expected, reply);
  }
  if (!greets || leave_reason_ || --greetings_left_ > 0) return;
  state_ = State::ready;
  state_since_ = elapsed_;
  breaker_.reset();
  metrics_.connected.add();
  replies_.on_ready(number_);
}

void Session::on_own_reply(const Expectation& expected, const Reply& reply) {
  const bool loading = reply.error_code() == "LOADING" || reply.error_code() == "MASTERDOWN";
  const bool locked = reply.error_code() == "NOAUTH" || reply.error_code() == "WRONGPASS";
  if (reply.is_error() && (loading || locked)) return leave(Cause::refused, reply.text);
  switch (expected.kind) {
    case kAuth:
    case kSelect:
    case kSubscribe:
      if (reply.is_error()) leave(Cause::refused, reply.text);
      return;
    case kRole: return on_role(reply);
    case kScript: return on_script(reply);
    case kTime: return on_time(expected, reply);
    default: return;
  }
}

// A server that does not tell its role (by its access rules) is taken as a primary, until it says READONLY.
void Session::on_role(const Reply& reply) {
  if (reply.kind != Reply::Kind::list || reply.elements.empty() || !reply.elements.front()) return;
  if (reply.elements.front()->text != "master") leave(Cause::readonly, "it is a replica");
}

void Session::on_script(const Reply& reply) {
  script_name_.clear();
  script_refusal_.clear();
  const bool for_good = reply.error_code() == "NOPERM" || reply.error_code() == "ERR";
  if (reply.is_error() && !for_good) return leave(Cause::refused, reply.text);
  if (reply.kind == Reply::Kind::text) {
    script_name_ = reply.text;
  } else {
    script_refusal_ = reply.text.empty() ? "SCRIPT LOAD gave no name" : reply.text;
  }
}

void Session::on_time(const Expectation& expected, const Reply& reply) {
  const Nanoseconds waited = elapsed_ - expected.sent;
  breaker_.probe_answered(waited);
  const std::optional<Instant> asked = std::exchange(time_asked_, std::nullopt);
  if (!asked || reply.kind != Reply::Kind::list || reply.elements.size() != 2) return;
  const auto seconds = number_in(*reply.elements[0]), microseconds = number_in(*reply.elements[1]);
  if (!seconds || !microseconds || *seconds < 0 || *seconds > Instant::max().time_since_epoch().count() / 1'000'000'000)
    return;
  const Instant theirs = instant_from_unix_seconds(*seconds) + std::chrono::microseconds{*microseconds};
  clock_offset_ = theirs - (now_ - waited / 2);
  clock_error_ = waited / 2;
}

void Session::leave(Cause cause, std::string_view reason) {
  failure_cause_ = cause;
  if (in_received_) {
    leave_reason_ = std::string{reason};
  } else {
    fail(cause, reason);
  }
}

void Session::move_to(const Endpoint& endpoint) {
  if (endpoint == endpoint_) return;
  endpoint_ = endpoint;
  backoff_.reset();
  if (state_ != State::down) leave(Cause::refused, "another server took its place");
  retry_at_ = elapsed_;
}

void Session::closed(std::string_view reason, Nanoseconds elapsed) {
  if (state_ == State::down) return;
  elapsed_ = elapsed;
  fail(Cause::refused, reason);
}

void Session::fail(Cause cause, std::string_view reason) {
  state_ = State::down;
  state_since_ = elapsed_;
  retry_at_ = elapsed_ + backoff_.next();
  failure_cause_ = cause;
  last_failure_ = fmt::format("{}: {}", to_string(endpoint_), reason);
  metrics_.lost.add();
  wires_.close(number_);
  output_.clear();
  written_ = 0;
  reader_.reset();
  time_asked_.reset();
  leave_reason_.reset();
  greetings_left_ = 0;
  breaker_.reset();
  const std::deque<Expectation> lost = std::exchange(expected_, {});
  for (const Expectation& expected : lost) {
    if (expected.kind < kAuth) replies_.on_lost(number_, expected);
  }
}

void Session::tick(Instant now, Nanoseconds elapsed) {
  now_ = now;
  elapsed_ = elapsed;
  if (state_ == State::down) {
    const bool knows_where = !endpoint_.host.empty();
    if (knows_where && elapsed >= retry_at_) connect();
    return;
  }
  if (state_ != State::ready) {
    if (elapsed - state_since_ > kPatience) fail(Cause::refused, "it did not answer within a second");
    return;
  }
  if (!expected_.empty() && elapsed - expected_.front().sent > kPatience) {
    fail(Cause::refused, "it stopped answering");
    return;
  }
  const bool probe = breaker_.probe_due(elapsed);
  if (!greeting_.asks_time || time_asked_ || (!probe && elapsed < time_due_)) return;
  if (probe) breaker_.probe_sent(elapsed);
  ask_time();
  wires_.has_output(number_);
}

}  // namespace penstock::store::redis
