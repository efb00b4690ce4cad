#include "penstock/store/redis/testing/simulated_redis.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace penstock::store::redis::testing {
namespace {

std::string bulk(std::string_view text) { return fmt::format("${}\r\n{}\r\n", text.size(), text); }
std::string integer(std::int64_t value) { return fmt::format(":{}\r\n", value); }
std::string error(std::string_view text) { return fmt::format("-{}\r\n", text); }

// See scripts/1_contract.lua: groups of 4 bytes with the count of charges in the last two, charges of 29.
std::size_t charges_in(std::string_view groups) {
  std::size_t charges = 0, at = 0;
  while (at + 4 <= groups.size()) {
    std::uint16_t count = 0;
    std::memcpy(&count, groups.data() + at + 2, sizeof count);
    charges += count;
    at += 4 + std::size_t{count} * 29;
  }
  return charges;
}

void append_number(std::string& out, double value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out.append(raw, sizeof value);
}

}  // namespace

void SimulatedRedis::open(std::uint32_t wire, const Endpoint&) {
  ++attempts;
  wire_ = wire;
  opening_ = true;
}

void SimulatedRedis::close(std::uint32_t) {
  connected_ = false;
  authenticated_ = false;
  reader_.reset();
  waiting_.clear();
  held_.clear();
}

void SimulatedRedis::cut(Instant now) {
  close(wire_);
  store_->closed(wire_, "it was cut", now);
}

void SimulatedRedis::turn(Instant now) {
  if (std::exchange(opening_, false)) {
    if (!listening) return store_->closed(wire_, "nobody listens", now);
    connected_ = true;
    reader_ = std::make_unique<ReplyReader>();
    store_->opened(wire_, now);
  }
  if (!connected_) return;
  const std::string output{store_->output(wire_)};
  if (!output.empty()) ++writes;
  store_->written(wire_, output.size());
  if (!reader_->feed(output)) return;
  while (const std::unique_ptr<Reply> parsed = reader_->next()) {
    Command& command = waiting_.emplace_back();
    for (const auto& word : parsed->elements) command.push_back(word->text);
  }
  if (!executing) return;
  for (const Command& command : std::exchange(waiting_, {})) held_ += reply_to(command, now);
  if (!answering || held_.empty()) return;
  const std::string replies = std::exchange(held_, {});
  store_->received(wire_, replies, now);
}

std::string SimulatedRedis::reply_to(const Command& command, Instant now) {
  const std::string& name = command.front();
  if (name == "AUTH") {
    passwords.push_back(command.back());
    authenticated_ = command.back() == password;
    return authenticated_ ? "+OK\r\n" : error("WRONGPASS invalid username-password pair or user is disabled.");
  }
  if (!password.empty() && !authenticated_) return error("NOAUTH Authentication required.");
  if (const auto found = errors.find(name); found != errors.end()) return error(found->second);
  if (name == "ROLE") return replica ? "*1\r\n$5\r\nslave\r\n" : "*1\r\n$6\r\nmaster\r\n";
  if (name == "SCRIPT")
    return script_refusal ? error(*script_refusal) : bulk("0123456789abcdef0123456789abcdef01234567");
  if (name == "TIME") {
    const auto us = std::chrono::floor<std::chrono::microseconds>(now + ahead).time_since_epoch().count();
    return "*2\r\n" + bulk(std::to_string(us / 1'000'000)) + bulk(std::to_string(us % 1'000'000));
  }
  if (replica && (name == "INCRBY" || name.starts_with("EVAL"))) {
    return error("READONLY You can't write against a read only replica.");
  }
  executed.push_back(command);
  if (name == "INCRBY") return integer(values[command[1]] += std::stoll(command[2]));
  if (name == "GET") return values.contains(command[1]) ? bulk(std::to_string(values[command[1]])) : "$-1\r\n";
  if (name == "EXPIRE") return integer((ttls[command[1]] = std::stoll(command[2])) > 0 ? 1 : 0);
  if (name.starts_with("EVAL")) return script_reply(command);
  return "+OK\r\n";
}

std::string SimulatedRedis::script_reply(const Command& command) const {
  std::string reply;
  for (int i = 0; i < 3; ++i) append_number(reply, 0);
  for (std::size_t i = 0; i < charges_in(command[command.size() - 2]); ++i) {
    reply += std::string{"\0\1", 2};
    for (const double number : {7.0, 0.0, 1'000.0, 0.0}) append_number(reply, number);
  }
  return bulk(reply);
}

std::size_t SimulatedRedis::times(const std::string& command) const {
  return static_cast<std::size_t>(
      std::ranges::count(executed, command, [](const Command& each) { return each.front(); }));
}

}  // namespace penstock::store::redis::testing
