#include "penstock/server/unary_call.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "penstock/protocol/grpc_message.h"
#include "penstock/protocol/grpc_status.h"
#include "penstock/transport/http2_client.h"

namespace penstock::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::size_t kMaxReplyBytes = 16UL * 1024 * 1024;

// Runs one asynchronous operation to its end, or until the deadline.
class Runner {
 public:
  Runner(asio::io_context& io, std::chrono::milliseconds timeout)
      : io_{io}, deadline_{std::chrono::steady_clock::now() + timeout} {}

  [[nodiscard]] bool run(const bool& done) {
    io_.restart();
    while (!done) {
      if (io_.run_one_until(deadline_) == 0) return false;
    }
    return true;
  }

 private:
  asio::io_context& io_;
  std::chrono::steady_clock::time_point deadline_;
};

std::optional<std::string_view> header(const transport::ClientResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<std::string> message_of(const transport::ClientResponse& response) {
  if (response.reset) return fail(ErrorCode::unavailable, "the server ended the call without an answer");
  const auto status = header(response, "grpc-status");
  if (!status) {
    return fail(ErrorCode::unavailable,
                fmt::format("HTTP status {} without a gRPC status: is this a gRPC port?", response.status));
  }
  int code = 0;
  const auto [end, wrong] = std::from_chars(status->data(), status->data() + status->size(), code);
  if (wrong != std::errc{} || end != status->data() + status->size()) {
    return fail(ErrorCode::internal, fmt::format("'{}' is no gRPC status", *status));
  }
  if (code != 0) {
    const bool known = code > 0 && code <= static_cast<int>(ErrorCode::unauthenticated);
    return fail(known ? static_cast<ErrorCode>(code) : ErrorCode::unknown,
                protocol::percent_decoded(header(response, "grpc-message").value_or("")));
  }
  const protocol::Frame frame = protocol::only_message(response.body, "");
  if (frame.fault != protocol::FrameFault::none) return fail(ErrorCode::internal, "the answer holds no whole message");
  return std::string{frame.message};
}

class Call {
 public:
  Call(const Address& server, std::chrono::milliseconds timeout) : server_{server}, timeout_{timeout} {}

  Result<std::string> run(std::string_view path, std::string_view message) {
    if (auto connected = connect(); !connected) return std::unexpected{connected.error()};
    const std::string grpc_timeout = fmt::format("{}m", timeout_.count());
    const std::array<transport::Header, 3> headers = {
        {{"content-type", "application/grpc"}, {"te", "trailers"}, {"grpc-timeout", grpc_timeout}}};
    client_.post(to_string(server_), path, headers, protocol::framed(message));
    while (true) {
      if (auto sent = write(); !sent) return std::unexpected{sent.error()};
      if (auto response = client_.next_response()) return message_of(*response);
      if (auto received = read(); !received) return std::unexpected{received.error()};
    }
  }

 private:
  [[nodiscard]] std::unexpected<Error> late() const {
    return fail(ErrorCode::deadline_exceeded,
                fmt::format("{} gave no answer within {} ms", to_string(server_), timeout_.count()));
  }

  Result<void> connect() {
    boost::system::error_code error;
    bool done = false;
    tcp::resolver resolver{io_};
    tcp::resolver::results_type found;
    resolver.async_resolve(server_.host, std::to_string(server_.port),
                           [&](boost::system::error_code outcome, const tcp::resolver::results_type& results) {
                             error = outcome;
                             found = results;
                             done = true;
                           });
    if (!runner_.run(done)) return late();
    if (error) {
      return fail(ErrorCode::unavailable, fmt::format("{} cannot be resolved: {}", server_.host, error.message()));
    }
    done = false;
    asio::async_connect(socket_, found, [&](boost::system::error_code outcome, const tcp::endpoint&) {
      error = outcome;
      done = true;
    });
    if (!runner_.run(done)) return late();
    if (error) {
      return fail(ErrorCode::unavailable, fmt::format("{} cannot be reached: {}", to_string(server_), error.message()));
    }
    return {};
  }

  Result<void> write() {
    while (!client_.output().empty()) {
      const std::string_view output = client_.output();
      bool done = false;
      boost::system::error_code error;
      asio::async_write(socket_, asio::buffer(output.data(), output.size()),
                        [&](boost::system::error_code outcome, std::size_t) {
                          error = outcome;
                          done = true;
                        });
      if (!runner_.run(done)) return late();
      if (error) return fail(ErrorCode::unavailable, fmt::format("the connection broke: {}", error.message()));
      client_.written(output.size());
    }
    return {};
  }

  Result<void> read() {
    bool done = false;
    boost::system::error_code error;
    std::size_t size = 0;
    socket_.async_read_some(asio::buffer(buffer_), [&](boost::system::error_code outcome, std::size_t bytes) {
      error = outcome;
      size = bytes;
      done = true;
    });
    if (!runner_.run(done)) return late();
    read_bytes_ += size;
    if (error) return fail(ErrorCode::unavailable, fmt::format("the connection broke: {}", error.message()));
    if (read_bytes_ > kMaxReplyBytes) return fail(ErrorCode::resource_exhausted, "the answer is above 16 MiB");
    if (!client_.receive({buffer_.data(), size})) {
      return fail(ErrorCode::unavailable, "the server does not speak HTTP/2, or broke off: is this a gRPC port?");
    }
    return {};
  }

  const Address server_;
  const std::chrono::milliseconds timeout_;
  asio::io_context io_{1};
  tcp::socket socket_{io_};
  Runner runner_{io_, timeout_};
  transport::Http2Client client_;
  std::array<char, 16 * 1024> buffer_{};
  std::size_t read_bytes_ = 0;
};

}  // namespace

Result<std::string> unary_call(const Address& server, std::string_view path, std::string_view message,
                               std::chrono::milliseconds timeout) {
  return Call{server, timeout}.run(path, message);
}

}  // namespace penstock::server
