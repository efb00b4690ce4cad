#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/metrics/counter.h"
#include "penstock/protocol/health.h"
#include "penstock/protocol/outbox.h"
#include "penstock/protocol/reflection.h"
#include "penstock/transport/message.h"

namespace penstock::protocol {

// The streaming methods: Watch of grpc.health.v1, and ServerReflectionInfo of grpc.reflection.v1 and v1alpha. Keeps the
// streams that are open, at most kMaxOpen, and kMaxOpenPerConnection of one peer; a further one is answered
// RESOURCE_EXHAUSTED and counted in `refused`, as is one with more than kMaxQuestionsAtOnce.
//
// Threading: Loop-owned. Ownership: borrows what it is made with for its lifetime, connections until `forget`.
class GrpcStreams {
 public:
  static constexpr std::size_t kMaxOpen = 4096;
  static constexpr std::size_t kMaxOpenPerConnection = 256;  // so that one peer does not take them all
  // Questions of one reflection stream in one read: each answer may be a thousand times its question's size.
  static constexpr std::size_t kMaxQuestionsAtOnce = 64;

  GrpcStreams(const Health& health, Outbox& outbox, metrics::Counter& refused)
      : health_{health}, outbox_{outbox}, refused_{refused} {}

  // A request as far as it has come; called again when more has come.
  void serve_watch(transport::Http2Server& connection, const transport::Request& request);
  void serve_reflection(transport::Http2Server& connection, const transport::Request& request);

  // Tells all watchers of known services; call after the flag has changed.
  void tell_health();

  void drop_resets(const transport::Http2Server& connection);
  void forget(const transport::Http2Server& connection);
  // Ends all streams with UNAVAILABLE.
  void end_all();

  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }

 private:
  enum class Kind : std::uint8_t { watch, watch_unknown, reflection };
  struct Open {
    transport::Http2Server* connection = nullptr;
    std::int32_t stream = 0;
    Kind kind = Kind::watch;
  };

  [[nodiscard]] bool is_open(const transport::Http2Server& connection, std::int32_t stream) const noexcept;
  // False when there are kMaxOpen already; the request is answered then.
  [[nodiscard]] bool open(Open stream);
  void end(Open stream, const Error& error);
  void refuse_oversize(Open stream);
  void send_status(const Open& watcher, ServingStatus status);
  // Answers the whole messages of `body` and returns their size; stops at a fault, which ends the stream.
  [[nodiscard]] std::size_t answer_reflection(Open stream, const transport::Request& request);

  const Health& health_;
  Outbox& outbox_;
  metrics::Counter& refused_;
  std::vector<Open> open_;
  Reflection reflection_;
  std::string reply_;  // reused
};

}  // namespace penstock::protocol
