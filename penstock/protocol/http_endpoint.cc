#include "penstock/protocol/http_endpoint.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "penstock/protocol/grpc_status.h"
#include "penstock/protocol/json.h"

namespace penstock::protocol {
namespace {

using transport::Header;

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr std::string_view kJson = "application/json";
constexpr std::size_t kKeptTexts = 1024 * 1024;  // a larger buffer, from a rare huge batch, is given back

// A proxy may be sent the whole address (RFC 9112, 3.2.2): what counts is the part from the path on.
std::string_view origin_form(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t path = target.find('/', scheme.size());
    return path == std::string_view::npos ? "/" : target.substr(path);
  }
  return target;
}

std::string_view without_query(std::string_view path) { return path.substr(0, path.find('?')); }

// The target with each run of slashes in its path made one.
std::string with_single_slashes(std::string_view target) {
  const std::size_t path_size = without_query(target).size();
  std::string out;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool repeated = i > 0 && i < path_size && target[i] == '/' && target[i - 1] == '/';
    if (!repeated) out.push_back(target[i]);
  }
  return out;
}

// Whether it can be handed back as a location: browsers take a backslash for a slash, and what follows for a host.
bool is_plain(std::string_view target) {
  return std::ranges::all_of(target, [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
}

std::size_t bytes_of(std::span<const transport::Request> requests) {
  std::size_t bytes = 0;
  for (const transport::Request& request : requests) bytes += request.body.size();
  return bytes;
}

}  // namespace

HttpEndpoint::HttpEndpoint(limiter::Limiter& limiter, Outbox& outbox, ReplyOptions options)
    : outbox_{outbox}, extender_{std::move(options)}, limiter_{limiter} {}

void HttpEndpoint::serve(transport::Http1Server& connection, Instant now) {
  served_ = &connection;
  batch_.clear();
  if (texts_.capacity() > kKeptTexts) std::string{}.swap(texts_);
  texts_.clear();
  texts_.reserve(bytes_of(connection.requests()));
  for (const transport::Request& request : connection.requests()) {
    serve_one(connection, request, now);
    if (batch_.full()) decide(now);
  }
  decide(now);
  served_ = nullptr;
}

void HttpEndpoint::decide(Instant now) {
  if (extender_.active()) extender_.note(batch_.checks());
  batch_.decide(limiter_, now, *this);
}

void HttpEndpoint::serve_one(transport::Http1Server& connection, const transport::Request& request, Instant now) {
  metrics_.requests.add();
  const std::string_view target = origin_form(request.path);
  const std::string_view path = without_query(target);
  if (path == "/healthcheck") {
    Reply reply{.status = serving_ ? 200 : 500, .content_type = kPlain, .body = serving_ ? "OK" : ""};
    return send(connection, request.stream, reply);
  }
  if (path.contains("//") && is_plain(target)) {
    return send(connection, request.stream,
                {.status = 301, .content_type = kPlain, .location = with_single_slashes(target)});
  }
  if (path != "/json") {
    metrics_.unknown_paths.add();
    return send(connection, request.stream, {.status = 404, .content_type = kPlain, .body = "Not Found\n"});
  }
  const std::uint64_t refused = batch_.refused();
  if (auto decoded = decode_json(request.body, texts_, batch_); !decoded) {
    (batch_.refused() == refused ? metrics_.malformed : metrics_.beyond_maxima).add();
    return send(connection, request.stream, bad_request(std::move(decoded.error().message)));
  }
  const std::optional<std::uint64_t> ticket =
      waiting_.add({.connection = &connection, .stream = request.stream, .expired = false});
  if (!ticket) {
    batch_.abandon();
    metrics_.waiting_refused.add();
    return send(connection, request.stream,
                bad_request(fmt::format("{} requests wait for an answer, which is the most", kMaxWaiting)));
  }
  batch_.commit(*ticket, now + kMaxStoreTime);
}

void HttpEndpoint::on_verdict(std::uint64_t ticket, const limiter::Verdict& verdict) {
  const auto place = waiting_.take(ticket);
  if (place.connection == nullptr || verdict.error != nullptr) extender_.drop(ticket);
  if (place.connection == nullptr) return;
  send(*place.connection, place.stream, reply_of(ticket, verdict));
  if (place.connection != served_) outbox_.flush(*place.connection);
}

void HttpEndpoint::send(transport::Http1Server& connection, std::int32_t stream, const Reply& reply) {
  std::string error;
  append_percent_encoded(reply.error, error);
  std::array<Header, 3> headers{{{"content-type", reply.content_type}}};
  std::size_t count = 1;
  if (reply.status == 400 || reply.status == 404) headers[count++] = {"x-content-type-options", "nosniff"};
  if (!error.empty()) headers[count++] = {"x-penstock-error", error};
  if (!reply.location.empty()) headers[count++] = {"location", reply.location};
  connection.respond(stream, {.status = reply.status, .headers = std::span{headers}.first(count), .body = reply.body});
}

HttpEndpoint::Reply HttpEndpoint::bad_request(std::string error) {
  return {.status = 400, .content_type = kPlain, .body = "Bad Request\n", .error = std::move(error)};
}

HttpEndpoint::Reply HttpEndpoint::reply_of(std::uint64_t ticket, const limiter::Verdict& verdict) {
  if (verdict.error != nullptr) return bad_request(verdict.error->message);
  Reply reply{.status = verdict.overall == limiter::Code::over_limit ? 429 : 200, .content_type = kJson};
  encode_json(verdict, extender_.active() ? extender_.extend(ticket, verdict) : ReplyExtras{}, reply.body);
  return reply;
}

}  // namespace penstock::protocol
