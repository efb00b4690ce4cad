#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/store/redis/redis_store.h"
#include "penstock/store/redis/resp.h"

namespace penstock::store::redis::testing {

// A Redis as its clients see it, for one store on one connection, that does as it is told. Nothing happens but in
// `turn`. It knows AUTH, SELECT, ROLE, SCRIPT LOAD, TIME, INCRBY, GET, EXPIRE, and says of each charge of a script that
// it is allowed. Threading: Value. Ownership: borrows the store.
class SimulatedRedis final : public Wires {
 public:
  using Command = std::vector<std::string>;

  void serve(RedisStore& store) { store_ = &store; }

  // How it behaves; may be changed at any time.
  bool listening = true;  // else attempts to connect fail
  bool executing = true;  // else it takes commands and does nothing with them, until it does
  bool answering = true;  // else replies are held back, until it does
  bool replica = false;
  std::string password;
  std::optional<std::string> script_refusal;
  std::map<std::string, std::string> errors;  // by command: what it says instead of doing it
  Nanoseconds ahead{0};                       // its clock

  // What happened.
  std::map<std::string, std::int64_t> values;
  std::map<std::string, std::int64_t> ttls;
  std::vector<Command> executed;
  std::uint32_t attempts = 0;
  std::uint32_t writes = 0;  // turns in which the store had something to send
  std::vector<std::string> passwords;

  // Connects, takes what the store sends, executes it, answers.
  void turn(Instant now);
  // Sends bytes of the test's choice.
  void say(std::string_view bytes, Instant now) { store_->received(wire_, bytes, now); }
  // Ends the connection; what was executed and not answered is lost.
  void cut(Instant now);

  [[nodiscard]] std::size_t times(const std::string& command) const;

  void open(std::uint32_t wire, const Endpoint& endpoint) override;
  void close(std::uint32_t wire) override;
  void has_output(std::uint32_t) override {}

 private:
  [[nodiscard]] std::string reply_to(const Command& command, Instant now);
  [[nodiscard]] std::string script_reply(const Command& command) const;

  RedisStore* store_ = nullptr;
  std::uint32_t wire_ = 0;
  bool opening_ = false;
  bool connected_ = false;
  bool authenticated_ = false;
  std::unique_ptr<ReplyReader> reader_;
  std::vector<Command> waiting_;
  std::string held_;  // replies
};

}  // namespace penstock::store::redis::testing
