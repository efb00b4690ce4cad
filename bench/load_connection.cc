#include "bench/load_connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace penstock::bench {
namespace {

constexpr std::string_view kMethod = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::uint32_t kWindowBytes = 1U << 30;

std::uint64_t now_nanoseconds() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

[[noreturn]] void give_up(std::string_view what) {
  fmt::print(stderr, "load_client: {}\n", what);
  std::exit(1);
}

int connect_to(const LoadTarget& target) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(target.port);
  if (inet_pton(AF_INET, target.host.c_str(), &address.sin_addr) != 1) {
    give_up(fmt::format("'{}' is no IPv4 address", target.host));
  }
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    give_up(fmt::format("cannot connect to {}:{}: {}", target.host, target.port, std::strerror(errno)));
  }
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

nghttp2_nv field(std::string_view name, std::string_view value) {
  // nghttp2 takes pointers to mutable bytes and does not write to them.
  return {.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

std::string_view text(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

struct LoadConnection::SessionCallbacks {
  static Stream* stream_of(nghttp2_session* session, std::int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int on_header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t, void*) {
    Stream* stream = stream_of(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if (text(name, name_size) == ":status") stream->status_ok = text(value, value_size) == "200";
    if (text(name, name_size) == "grpc-status") stream->grpc_ok = text(value, value_size) == "0";
    return 0;
  }

  static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void*) {
    if (Stream* stream = stream_of(session, id)) stream->reply.append(text(data, size));
    return 0;
  }

  static int on_close(nghttp2_session* session, std::int32_t id, std::uint32_t error_code, void* user) {
    if (Stream* stream = stream_of(session, id)) static_cast<LoadConnection*>(user)->answered(*stream, error_code);
    return 0;
  }

  static ssize_t read_body(nghttp2_session* session, std::int32_t id, std::uint8_t* to, std::size_t room,
                           std::uint32_t* flags, nghttp2_data_source*, void* user) {
    const std::string& body = static_cast<LoadConnection*>(user)->target_.body;
    Stream* stream = stream_of(session, id);
    const std::size_t size = std::min(room, body.size() - stream->sent);
    std::memcpy(to, body.data() + stream->sent, size);
    stream->sent += size;
    if (stream->sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  static nghttp2_session* start(LoadConnection* connection) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session* session = nullptr;
    nghttp2_session_client_new(&session, callbacks, connection);
    nghttp2_session_callbacks_del(callbacks);
    return session;
  }
};

LoadConnection::LoadConnection(const LoadTarget& target, LoadTally& tally, std::size_t& left)
    : target_{target},
      tally_{tally},
      left_{left},
      socket_{connect_to(target)},
      authority_{fmt::format("{}:{}", target.host, target.port)},
      session_{SessionCallbacks::start(this)} {
  const std::array<nghttp2_settings_entry, 2> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindowBytes}}};
  nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(kWindowBytes));
}

LoadConnection::~LoadConnection() { ::close(socket_); }

void LoadConnection::begin(std::size_t streams) {
  for (std::size_t i = 0; i < streams && left_ > 0; ++i) submit(*streams_.emplace_back(std::make_unique<Stream>()));
}

void LoadConnection::submit(Stream& stream) {
  --left_;
  stream.began = now_nanoseconds();
  stream.sent = 0;
  stream.reply.clear();
  stream.status_ok = stream.grpc_ok = false;
  const std::array<nghttp2_nv, 7> headers = {field(":method", "POST"),    field(":scheme", "http"),
                                             field(":path", kMethod),     field(":authority", authority_),
                                             field("te", "trailers"),     field("content-type", "application/grpc"),
                                             field("grpc-timeout", "20S")};
  nghttp2_data_provider body{.source = {.ptr = nullptr}, .read_callback = SessionCallbacks::read_body};
  const int id = nghttp2_submit_request(session_.get(), nullptr, headers.data(), headers.size(), &body, &stream);
  if (id < 0) give_up(nghttp2_strerror(id));
}

void LoadConnection::answered(Stream& stream, std::uint32_t error_code) {
  const bool sound = error_code == NGHTTP2_NO_ERROR && stream.status_ok && stream.grpc_ok;
  tally_.add(sound ? decode_response(stream.reply) : std::nullopt, now_nanoseconds() - stream.began);
  if (left_ > 0) submit(stream);
}

void LoadConnection::write_out() {
  const std::uint8_t* bytes = nullptr;
  thread_local std::string pending;
  pending.clear();
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_.get(), &bytes)) > 0;) {
    pending.append(text(bytes, static_cast<std::size_t>(size)));
  }
  for (std::string_view rest = pending; !rest.empty();) {
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) give_up(fmt::format("send: {}", std::strerror(errno)));
    if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void LoadConnection::read_in() {
  thread_local std::array<std::uint8_t, kReadBytes> buffer;
  const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size == 0) give_up(fmt::format("the server closed a connection after {} answers", tally_.answered()));
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    give_up(fmt::format("recv: {}", std::strerror(errno)));
  }
  const ssize_t taken = nghttp2_session_mem_recv(session_.get(), buffer.data(), static_cast<std::size_t>(size));
  if (taken != size) give_up("the server broke HTTP/2");
}

}  // namespace penstock::bench
