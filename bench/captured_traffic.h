#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/instant.h"
#include "penstock/protocol/grpc_endpoint.h"
#include "penstock/protocol/outbox.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/transport/http2_server.h"

namespace penstock::bench {

// What a real Envoy said on one connection to a rate limit service, in the pieces in which it was read.
struct Capture {
  std::vector<std::string> chunks;
};

// Reads `file` and `file`.chunks; ends the program when they are not there.
[[nodiscard]] Capture read_capture(const std::filesystem::path& file);

// The way of a request through a loop, without its socket: bytes to transport, protocol, limiter and the embedded
// store, and bytes back. Threading: Loop-owned.
class CapturedTraffic final : private protocol::Outbox {
 public:
  // `rules` is the text of a rule file. Ends the program when it has mistakes.
  explicit CapturedTraffic(const std::string& rules);
  ~CapturedTraffic();
  CapturedTraffic(const CapturedTraffic&) = delete;
  CapturedTraffic& operator=(const CapturedTraffic&) = delete;

  // Begins a new connection in place of the last.
  void connect();
  // Takes a piece as one read, and drops what is to be written.
  void receive(std::string_view bytes);

  [[nodiscard]] std::uint64_t answered() const noexcept;  // requests
  [[nodiscard]] std::uint64_t failed() const noexcept;    // of these, without a verdict
  [[nodiscard]] std::uint64_t refused() const noexcept;   // of these, over a limit
  [[nodiscard]] std::uint64_t output_bytes() const noexcept { return output_bytes_; }

 private:
  void flush(transport::Http2Server& connection) override;
  void flush(transport::Http1Server& connection) override;

  transport::Http2Options options_;
  store::MemoryStore store_;
  limiter::Limiter limiter_;
  protocol::GrpcEndpoint endpoint_;
  std::unique_ptr<transport::Http2Server> connection_;
  Instant now_;
  std::uint64_t output_bytes_ = 0;
};

}  // namespace penstock::bench
