#include "penstock/store/redis/testing/local_redis.h"

#include <array>
#include <cstring>
#include <filesystem>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "penstock/base/check.h"
#include "penstock/store/redis/resp.h"

namespace penstock::store::redis::testing {
namespace {

constexpr int kPatienceMs = 1'000;
constexpr int kTurnMs = 20;
constexpr int kStartPollMs = 10;

std::string make_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "penstock-redis-XXXXXX").string();
  PENSTOCK_CHECK(::mkdtemp(path.data()) != nullptr);
  return path;
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool readable(int socket, int patience_ms) {
  pollfd poll = {.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, patience_ms) > 0;
}

}  // namespace

int connect_to(const Endpoint& endpoint) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  PENSTOCK_CHECK(endpoint.is_unix() && endpoint.host.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, endpoint.host.c_str(), endpoint.host.size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as the socket interface asks
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return socket;
  ::close(socket);
  return -1;
}

LocalRedis::LocalRedis(const std::vector<std::string>& settings) : folder_{make_folder()} {
  std::vector<std::string> words = {
      "redis-server", "--port", "0",     "--unixsocket", folder_ + "/socket", "--save",        "",
      "--appendonly", "no",     "--dir", folder_,        "--logfile",         folder_ + "/log"};
  words.insert(words.end(), settings.begin(), settings.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  process_ = ::fork();
  PENSTOCK_CHECK(process_ >= 0);
  if (process_ == 0) {
    ::execvp("redis-server", arguments.data());
    ::_exit(127);
  }
  for (int tries = 0; tries < 500; ++tries) {
    const int socket = connect_to(endpoint());
    if (socket >= 0) {
      ::close(socket);
      return;
    }
    ::poll(nullptr, 0, kStartPollMs);
  }
  const bool redis_server_started = false;  // is it installed (script/bootstrap)?
  PENSTOCK_CHECK(redis_server_started);
}

LocalRedis::~LocalRedis() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string LocalRedis::run(const std::vector<std::string>& command) const {
  const int socket = connect_to(endpoint());
  if (socket < 0) return "no connection";
  std::string bytes;
  const std::vector<std::string_view> parts{command.begin(), command.end()};
  append_command(bytes, std::span<const std::string_view>{parts});
  send_all(socket, bytes);
  ReplyReader reader;
  std::unique_ptr<Reply> reply;
  std::array<char, 4096> buffer{};
  while (!reply && readable(socket, kPatienceMs)) {
    const ssize_t size = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (size <= 0 || !reader.feed({buffer.data(), static_cast<std::size_t>(size)})) break;
    reply = reader.next();
  }
  ::close(socket);
  if (!reply) return "no reply";
  return reply->kind == Reply::Kind::integer ? std::to_string(reply->integer) : reply->text;
}

BlockingWires::~BlockingWires() {
  for (const Wire& wire : wires_) {
    if (wire.socket >= 0) ::close(wire.socket);
  }
}

BlockingWires::Wire* BlockingWires::find(std::uint32_t number) {
  for (Wire& wire : wires_) {
    if (wire.number == number) return &wire;
  }
  return nullptr;
}

void BlockingWires::open(std::uint32_t number, const Endpoint& endpoint) {
  Wire* wire = find(number);
  if (wire == nullptr) wire = &wires_.emplace_back(Wire{.number = number});
  wire->endpoint = endpoint;
  wire->to_open = true;
}

void BlockingWires::close(std::uint32_t number) {
  Wire* const wire = find(number);
  if (wire == nullptr || wire->socket < 0) return;
  ::close(wire->socket);
  wire->socket = -1;
}

void BlockingWires::turn(Instant now) {
  for (std::size_t i = 0; i < wires_.size(); ++i) {
    const std::uint32_t number = wires_[i].number;
    if (wires_[i].to_open) {
      wires_[i].to_open = false;
      wires_[i].socket = connect_to(wires_[i].endpoint);
      if (wires_[i].socket >= 0) {
        store_->opened(number, now);
      } else {
        store_->closed(number, "it is not there", now);
      }
    }
    if (wires_[i].socket < 0) continue;
    const std::string output{store_->output(number)};
    send_all(wires_[i].socket, output);
    store_->written(number, output.size());
    std::array<char, 65'536> buffer{};
    if (!readable(wires_[i].socket, kTurnMs)) continue;
    const ssize_t size = ::recv(wires_[i].socket, buffer.data(), buffer.size(), 0);
    if (size > 0) {
      store_->received(number, {buffer.data(), static_cast<std::size_t>(size)}, now);
    } else {
      close(number);
      store_->closed(number, "it ended the connection", now);
    }
  }
}

}  // namespace penstock::store::redis::testing
