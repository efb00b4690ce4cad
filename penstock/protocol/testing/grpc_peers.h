#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/protocol/grpc_endpoint.h"
#include "penstock/protocol/grpc_message.h"
#include "penstock/protocol/outbox.h"
#include "penstock/rules/rule_set.h"
#include "penstock/store/memory/memory_store.h"
#include "penstock/transport/http2_client.h"
#include "penstock/transport/http2_server.h"

namespace penstock::protocol::testing {

// Remembers who was flushed.
class RecordingOutbox final : public Outbox {
 public:
  void flush(transport::Http2Server& connection) override { http2.push_back(&connection); }
  void flush(transport::Http1Server& connection) override { http1.push_back(&connection); }

  std::vector<const transport::Http2Server*> http2;
  std::vector<const transport::Http1Server*> http1;
};

// The rules of one file. Requires: they load.
[[nodiscard]] std::shared_ptr<const rules::RuleSet> rules_of(std::string_view text);

// A small embedded store.
[[nodiscard]] std::unique_ptr<store::Store> small_store();

// What a gRPC client makes of an answer.
struct Answer {
  int http_status = 0;
  std::string status;   // grpc-status; empty: none
  std::string message;  // grpc-message as sent
  std::string body;
  bool has_body = false;
  [[nodiscard]] std::string header(std::string_view name) const;
  std::vector<std::pair<std::string, std::string>> headers;
};

// A client and a server end of one connection, served by an endpoint, with a wire that a test moves bytes along.
class GrpcPeers {
 public:
  explicit GrpcPeers(GrpcEndpoint& endpoint) : endpoint_{endpoint} {
    options_.streaming_paths = GrpcEndpoint::streaming_paths();
    server_ = std::make_unique<transport::Http2Server>(options_);
  }

  // Sends what both have to say until both are silent.
  void exchange(Instant now);

  // From here on the clock of decisions is ahead of the transport's, which nobody can set.
  void set_clock(Nanoseconds forward) { clock_set_by_ = forward; }
  void to_server(Instant now);
  void to_client();

  // One whole call; nothing if no answer came.
  [[nodiscard]] std::optional<Answer> call(std::string_view path, std::string_view body, Instant now,
                                           std::vector<transport::Header> headers = grpc_headers());
  [[nodiscard]] std::optional<Answer> answer();

  [[nodiscard]] static std::vector<transport::Header> grpc_headers() {
    return {{"content-type", "application/grpc"}, {"te", "trailers"}};
  }

  [[nodiscard]] transport::Http2Client& client() { return client_; }
  [[nodiscard]] transport::Http2Server& server() { return *server_; }

 private:
  GrpcEndpoint& endpoint_;
  transport::Http2Options options_;
  std::unique_ptr<transport::Http2Server> server_;
  transport::Http2Client client_;
  Nanoseconds clock_set_by_{0};
};

}  // namespace penstock::protocol::testing
