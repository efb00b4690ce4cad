#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/instant.h"
#include "penstock/transport/byte_budget.h"
#include "penstock/transport/http1_exchange.h"
#include "penstock/transport/http1_parser.h"
#include "penstock/transport/http1_server.h"
#include "penstock/transport/output_buffer.h"

namespace penstock::transport {

// What stands behind Http1Server.
class Http1Server::Session {
 public:
  explicit Session(const Http1Options& options)
      : options_{options}, account_{options.held, std::numeric_limits<std::size_t>::max()} {}
  ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool receive(std::string_view bytes, Instant now);
  [[nodiscard]] std::span<const Request> requests() const noexcept { return requests_; }
  void respond(std::int32_t stream, const Response& response);
  void shut_down();
  void announce_end() noexcept { announced_ = true; }
  [[nodiscard]] bool expire(Instant now, const Patience& patience);
  [[nodiscard]] std::string_view output() const noexcept { return output_.unsent(); }
  void written(std::size_t size) {
    output_.written(size);
    account_.hold(bytes_to_hold());
  }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return account_.held(); }
  [[nodiscard]] bool wants_input() const noexcept;
  [[nodiscard]] bool paused() const noexcept { return paused_ && !reading_ended_; }
  [[nodiscard]] bool finished() const noexcept { return closed_ && output_.empty(); }
  [[nodiscard]] std::size_t open_streams() const noexcept { return open_.size(); }

 private:
  using Owned = std::unique_ptr<Http1Exchange>;
  using Count = metrics::Counter Http1Metrics::*;

  void forget_last_turn();
  void read(std::string_view bytes);
  void parse(std::string_view& bytes);
  bool parse_step(std::string_view& bytes);
  void begin_request();
  void complete_request();
  void refuse(int status, Count reason);
  void count(Count which) noexcept {
    if (options_.metrics != nullptr) (options_.metrics->*which).add();
  }
  [[nodiscard]] std::size_t bytes_to_hold() const noexcept {
    return unparsed_.size() + held_body_bytes_ + retired_bytes_ + output_.size() +
           (reading_ ? reading_->body.size() : 0);
  }
  [[nodiscard]] bool may_go_on_reading() noexcept;
  void trim();
  void send_due_replies();
  void send_due_continue();
  [[nodiscard]] Owned new_exchange();
  void retire_front();

  const Http1Options options_;
  Instant now_;
  std::int32_t last_stream_ = 0;
  bool announced_ = false;      // `announce_end` was called
  bool ending_ = false;         // `shut_down` was called
  bool reading_ended_ = false;  // what comes is dropped
  bool failed_ = false;         // since it could not be parsed
  bool paused_ = false;
  bool closed_ = false;  // the last reply is in the output
  std::size_t held_body_bytes_ = 0;
  std::size_t retired_bytes_ = 0;
  ByteAccount account_;
  std::int32_t awaited_stream_ = 0;  // whose rest `request_wait_` waits for
  Wait request_wait_;
  std::int32_t served_ = 0;  // the last stream when `expire` was called last
  Wait idle_wait_;
  SlowReader slow_reader_;

  std::string unparsed_;
  Owned reading_;  // the request that is being read
  std::optional<Http1Parser> parser_;
  bool continue_sent_ = false;

  std::vector<Owned> open_;     // handed out and not answered, or answered and not their turn; streams without gaps
  std::vector<Owned> retired_;  // in this turn; their requests are still shown
  std::vector<Owned> idle_;
  std::vector<Request> requests_;
  OutputBuffer output_;
};

}  // namespace penstock::transport
