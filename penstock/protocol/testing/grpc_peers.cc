#include "penstock/protocol/testing/grpc_peers.h"

#include <gtest/gtest.h>

#include "penstock/base/check.h"

namespace penstock::protocol::testing {

std::shared_ptr<const rules::RuleSet> rules_of(std::string_view text) {
  const rules::Source source{.name = "rules.yaml", .text = std::string{text}};
  auto loaded = rules::load({&source, 1}, {});
  if (!loaded) ADD_FAILURE() << to_string(loaded.error().front());
  PENSTOCK_CHECK(loaded.has_value());
  return loaded->rules;
}

std::unique_ptr<store::Store> small_store() {
  auto table = store::Table::create({.capacity_keys = 10'000});
  PENSTOCK_CHECK(table.has_value());
  return std::make_unique<store::MemoryStore>(std::move(*table));
}

std::string Answer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

void GrpcPeers::to_server(Instant now) {
  const std::string bytes{client_.output()};
  client_.written(bytes.size());
  EXPECT_TRUE(server_->receive(bytes, now));
  endpoint_.serve(*server_, now + clock_set_by_);
}

void GrpcPeers::to_client() {
  const std::string bytes{server_->output()};
  server_->written(bytes.size());
  EXPECT_TRUE(client_.receive(bytes));
}

void GrpcPeers::exchange(Instant now) {
  while (!client_.output().empty() || !server_->output().empty()) {
    if (!client_.output().empty()) to_server(now);
    if (!server_->output().empty()) to_client();
  }
}

std::optional<Answer> GrpcPeers::call(std::string_view path, std::string_view body, Instant now,
                                      std::vector<transport::Header> headers) {
  client_.post("limits", path, headers, body);
  exchange(now);
  return answer();
}

std::optional<Answer> GrpcPeers::answer() {
  const std::optional<transport::ClientResponse> response = client_.next_response();
  if (!response || response->reset) return std::nullopt;
  Answer answer;
  answer.http_status = response->status;
  answer.headers = response->headers;
  answer.status = answer.header("grpc-status");
  answer.message = answer.header("grpc-message");
  answer.has_body = !response->body.empty();
  const Frame frame = only_message(response->body, "");
  answer.body = frame.fault == FrameFault::none ? std::string{frame.message} : response->body;
  return answer;
}

}  // namespace penstock::protocol::testing
