#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/cli/commands.h"
#include "penstock/server/address.h"
#include "penstock/server/unary_call.h"

namespace penstock::cli {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using DescriptorStatus = RateLimitResponse::DescriptorStatus;

constexpr std::string_view kMethod = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

struct AskOptions {
  std::string server = "127.0.0.1:8081";
  std::string domain;
  std::vector<std::string> descriptors;
  std::uint32_t hits = 1;
  std::uint32_t timeout_milliseconds = 1000;
  std::string format = "text";
};

// "key=value,key=value"; a value may hold further '=', and be left out.
void add_descriptor(const std::string& text, RateLimitRequest& request) {
  auto* descriptor = request.add_descriptors();
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string entry = text.substr(from, comma - from);
    const std::size_t equals = std::min(entry.find('='), entry.size());
    if (equals == 0) {
      throw CLI::ValidationError{
          "--descriptor", fmt::format("'{}' has an entry without a key; accepted is KEY=VALUE[,KEY=VALUE...]", text)};
    }
    auto* out = descriptor->add_entries();
    out->set_key(entry.substr(0, equals));
    if (equals < entry.size()) out->set_value(entry.substr(equals + 1));
    from = comma + 1;
  }
}

RateLimitRequest request_of(const AskOptions& options) {
  RateLimitRequest request;
  request.set_domain(options.domain);
  request.set_hits_addend(options.hits);  // for services that do not know the field of the descriptor
  for (const std::string& descriptor : options.descriptors) {
    add_descriptor(descriptor, request);
    request.mutable_descriptors()->rbegin()->mutable_hits_addend()->set_value(options.hits);
  }
  return request;
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// What its time to wait means: for a refused caller when the same hits pass, else when everything is left again. A
// refusal that names no time is for ever; a window of the original names its end even then.
std::string describe_time(const DescriptorStatus& status, std::uint32_t hits) {
  const bool over = status.code() == RateLimitResponse::OVER_LIMIT;
  if (!status.has_duration_until_reset()) {
    return over ? fmt::format(", and no wait helps: {} never {}", hits, hits == 1 ? "passes" : "pass at once") : "";
  }
  const std::int64_t seconds = status.duration_until_reset().seconds();
  if (!over) return fmt::format(", all of it left in {} s", seconds);
  const bool doubtful = hits > status.current_limit().requests_per_unit();
  return fmt::format(", try again in {} s{}", seconds,
                     doubtful ? fmt::format(" ({} at once never pass, unless its burst is as large)", hits) : "");
}

// The protocol has no word for algorithm, burst and multiplier, so the limit is told as it is configured, not as what
// is left is a part of.
std::string describe(const DescriptorStatus& status, std::uint32_t hits) {
  const std::string code = RateLimitResponse::Code_Name(status.code());
  if (!status.has_current_limit()) {
    constexpr std::uint32_t kUnlimited = 0xffff'ffff;
    return fmt::format("{}, {}", code, status.limit_remaining() == kUnlimited ? "unlimited" : "no limit");
  }
  const auto& limit = status.current_limit();
  std::string text = fmt::format("{}, {} left now", code, status.limit_remaining());
  text += describe_time(status, hits);
  text += fmt::format("; limit {}{} per {}", limit.name().empty() ? "" : fmt::format("'{}' of ", limit.name()),
                      limit.requests_per_unit(), lower(RateLimitResponse::RateLimit::Unit_Name(limit.unit())));
  return text;
}

void print_text(const RateLimitResponse& response, std::uint32_t hits) {
  fmt::print("{}\n", RateLimitResponse::Code_Name(response.overall_code()));
  for (int i = 0; i < response.statuses_size(); ++i) {
    fmt::print("  descriptor {}: {}\n", i + 1, describe(response.statuses(i), hits));
  }
}

void print_json(const RateLimitResponse& response) {
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  const auto converted = google::protobuf::util::MessageToJsonString(response, &json, options);
  if (!converted.ok()) throw CLI::RuntimeError{kNoAnswer};
  fmt::print("{}", json);
}

void run(const AskOptions& options) {
  const auto server = server::parse_address(options.server);
  if (!server) throw CLI::ValidationError{"--server", server.error().message};
  const RateLimitRequest request = request_of(options);
  const auto reply = server::unary_call(*server, kMethod, request.SerializeAsString(),
                                        std::chrono::milliseconds{options.timeout_milliseconds});
  if (!reply) {
    fmt::print(stderr, "penstock: {}: {}\n", to_string(reply.error().code), reply.error().message);
    throw CLI::RuntimeError{kNoAnswer};
  }
  RateLimitResponse response;
  if (!response.ParseFromString(*reply)) {
    fmt::print(stderr, "penstock: the answer is no RateLimitResponse\n");
    throw CLI::RuntimeError{kNoAnswer};
  }
  if (response.overall_code() != RateLimitResponse::OK && response.overall_code() != RateLimitResponse::OVER_LIMIT) {
    fmt::print(stderr, "penstock: the answer says neither OK nor OVER_LIMIT (code {})\n",
               static_cast<int>(response.overall_code()));
    throw CLI::RuntimeError{kNoAnswer};
  }
  options.format == "json" ? print_json(response) : print_text(response, options.hits);
  if (response.overall_code() == RateLimitResponse::OVER_LIMIT) throw CLI::RuntimeError{kNo};
}

}  // namespace

void add_ask(CLI::App& app) {
  auto options = std::make_shared<AskOptions>();
  CLI::App* command = app.add_subcommand(
      "ask", "Send one request to any rate limit service: exit 0 OK, 1 over limit, 2 wrong use, 3 no answer");
  command->add_option("--server", options->server, "Whom to ask: HOST:PORT of its gRPC port, in plain text")
      ->type_name("ADDR")
      ->capture_default_str();
  command->add_option("--domain", options->domain, "The domain of the rules")->required()->type_name("TEXT");
  command->add_option("--descriptor", options->descriptors, "Entries of one descriptor; may be given several times")
      ->required()
      ->type_name("KEY=VALUE[,...]");
  command
      ->add_option("--hits", options->hits,
                   "Hits to charge for each descriptor; 0 only looks, where the service knows that")
      ->type_name("COUNT")
      ->capture_default_str();
  command->add_option("--timeout-ms", options->timeout_milliseconds, "How long to wait, in milliseconds")
      ->type_name("MS")
      ->check(CLI::Range(1, 600'000))
      ->capture_default_str();
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace penstock::cli
