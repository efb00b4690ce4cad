// A grpc++ client of the rate limit service: it shares no HTTP/2 code with Penstock.
//
//   grpc_cpp_client HOST:PORT KEY CALLS AT_ONCE IDLE_MS
//
// Makes CALLS calls, AT_ONCE at a time on one connection that pings every 20 ms, stays idle for IDLE_MS, calls once
// more and prints one line of JSON: {"ok": ..., "over": ..., "failed": {"14: ...": 1}}.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"

namespace {

namespace rls = envoy::service::ratelimit::v3;
using std::chrono::milliseconds;

constexpr int kPingEveryMs = 20;
constexpr std::chrono::seconds kDeadline{20};

struct Call {
  grpc::ClientContext context;
  rls::RateLimitResponse reply;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<rls::RateLimitResponse>> reader;
};

class Caller {
 public:
  Caller(const std::string& address, const std::string& key) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 1'000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    stub_ = rls::RateLimitService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    ask_.set_domain("edge");
    auto* entry = ask_.add_descriptors()->add_entries();
    entry->set_key("api_key");
    entry->set_value(key);
  }

  void call(int count, int at_once) {
    int begun = 0;
    for (; begun < std::min(count, at_once); ++begun) begin();
    for (int ended = 0; ended < count; ++ended) {
      end();
      if (begun < count) {
        begin();
        ++begun;
      }
    }
  }

  void idle(milliseconds time) {
    void* tag = nullptr;
    bool ok = false;
    if (queue_.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + time) != grpc::CompletionQueue::TIMEOUT) {
      std::abort();
    }
  }

  [[nodiscard]] std::string report() const {
    std::string failures;
    for (const auto& [what, count] : failed_) {
      failures += fmt::format("{}\"{}\": {}", failures.empty() ? "" : ", ", what, count);
    }
    return fmt::format(R"({{"ok": {}, "over": {}, "failed": {{{}}}}})", ok_, over_, failures);
  }

 private:
  void begin() {
    auto* call = new Call;  // deleted by end(): the queue hands pointers on
    call->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    call->reader = stub_->AsyncShouldRateLimit(&call->context, ask_, &queue_);
    call->reader->Finish(&call->reply, &call->status, call);
  }

  void end() {
    void* tag = nullptr;
    bool ok = false;
    if (!queue_.Next(&tag, &ok)) std::abort();
    const std::unique_ptr<Call> call{static_cast<Call*>(tag)};
    if (!call->status.ok()) {
      ++failed_[fmt::format("{}: {}", static_cast<int>(call->status.error_code()), call->status.error_message())];
    } else if (call->reply.overall_code() == rls::RateLimitResponse::OVER_LIMIT) {
      ++over_;
    } else {
      ++ok_;
    }
  }

  std::unique_ptr<rls::RateLimitService::Stub> stub_;
  rls::RateLimitRequest ask_;
  grpc::CompletionQueue queue_;
  int ok_ = 0;
  int over_ = 0;
  std::map<std::string, int> failed_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) {
    fmt::print(stderr, "usage: grpc_cpp_client HOST:PORT KEY CALLS AT_ONCE IDLE_MS\n");
    return 2;
  }
  Caller caller{arguments[1], arguments[2]};
  caller.call(std::atoi(arguments[3]), std::atoi(arguments[4]));
  caller.idle(milliseconds{std::atoi(arguments[5])});
  caller.call(1, 1);
  fmt::print("{}\n", caller.report());
  return 0;
}
