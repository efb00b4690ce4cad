#include "penstock/server/redis_wires.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace penstock::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using store::redis::Endpoint;
using Socket = asio::generic::stream_protocol::socket;

}  // namespace

// One connection, from the attempt to its end. After `end` it reports nothing more.
class RedisWires::Wire : public std::enable_shared_from_this<Wire> {
 public:
  Wire(RedisWires& wires, std::uint32_t number, Endpoint endpoint)
      : wires_{wires}, number_{number}, endpoint_{std::move(endpoint)}, resolver_{wires.io_}, socket_{wires.io_} {}

  void begin() {
    if (endpoint_.is_unix()) {
      error_code error;
      if (endpoint_.host.size() >= sizeof(sockaddr_un::sun_path)) return post_failure("its path is too long");
      addresses_ = {asio::local::stream_protocol::endpoint{endpoint_.host}};
      return connect_next(error);
    }
    resolver_.async_resolve(
        endpoint_.host, std::to_string(endpoint_.port),
        [self = shared_from_this()](error_code error, const asio::ip::tcp::resolver::results_type& results) {
          if (self->ended_) return;
          if (error) return self->fail("its name cannot be resolved: " + error.message());
          for (const auto& result : results) self->addresses_.emplace_back(result.endpoint());
          self->connect_next({});
        });
  }

  void end() {
    ended_ = true;
    resolver_.cancel();
    error_code ignored;
    socket_.close(ignored);
  }

  void flush() {
    if (!connected_ || writing_ || ended_) return;
    const std::string_view output = wires_.store_->output(number_);
    if (output.empty()) return;
    sending_.assign(output);
    wires_.store_->written(number_, output.size());
    write();
  }

 private:
  void post_failure(std::string reason) {
    asio::post(wires_.io_, [self = shared_from_this(), reason = std::move(reason)] {
      if (!self->ended_) self->fail(reason);
    });
  }

  void connect_next(error_code last) {
    if (next_address_ == addresses_.size()) {
      return fail(last ? "it cannot be reached: " + last.message() : "it has no address");
    }
    error_code ignored;
    socket_.close(ignored);
    socket_.async_connect(addresses_[next_address_++], [self = shared_from_this()](error_code error) {
      if (self->ended_) return;
      if (error) return self->connect_next(error);
      self->on_socket();
    });
  }

  void on_socket() {
    error_code ignored;
    if (!endpoint_.is_unix()) socket_.set_option(asio::ip::tcp::no_delay{true}, ignored);
    if (!endpoint_.tls) return on_connected();
    stream_.emplace(socket_, *wires_.tls_);
    const std::string& name = wires_.server_name_.empty() ? endpoint_.host : wires_.server_name_;
    // SSL_set_tlsext_host_name without its C cast.
    SSL_ctrl(stream_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(name.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast): it is only read
    if (wires_.check_server_name_) stream_->set_verify_callback(asio::ssl::host_name_verification{name}, ignored);
    stream_->async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](error_code error) {
      if (self->ended_) return;
      if (error) return self->fail("no TLS with it: " + error.message());
      self->on_connected();
    });
  }

  void on_connected() {
    connected_ = true;
    wires_.store_->opened(number_, wires_.now());
    read();
  }

  void read() {
    if (ended_) return;
    const auto on_read = [self = shared_from_this()](error_code error, std::size_t size) {
      if (self->ended_) return;
      if (error) return self->fail("the connection ended: " + error.message());
      self->wires_.store_->received(self->number_, {self->buffer_.data(), size}, self->wires_.now());
      self->read();
    };
    if (stream_) {
      stream_->async_read_some(asio::buffer(buffer_), on_read);
    } else {
      socket_.async_read_some(asio::buffer(buffer_), on_read);
    }
  }

  void write() {
    writing_ = true;
    const auto on_written = [self = shared_from_this()](error_code error, std::size_t) {
      self->writing_ = false;
      if (self->ended_) return;
      if (error) return self->fail("the connection ended: " + error.message());
      self->flush();
    };
    if (stream_) {
      asio::async_write(*stream_, asio::buffer(sending_), on_written);
    } else {
      asio::async_write(socket_, asio::buffer(sending_), on_written);
    }
  }

  void fail(const std::string& reason) {
    const auto self = shared_from_this();
    end();
    wires_.store_->closed(number_, reason, wires_.now());
  }

  RedisWires& wires_;
  const std::uint32_t number_;
  const Endpoint endpoint_;
  asio::ip::tcp::resolver resolver_;
  std::vector<asio::generic::stream_protocol::endpoint> addresses_;
  std::size_t next_address_ = 0;
  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> stream_;
  std::array<char, 64UL * 1024> buffer_{};
  std::string sending_;
  bool connected_ = false;
  bool writing_ = false;
  bool ended_ = false;
};

RedisWires::RedisWires(asio::io_context& io, const WallOffset& clock, std::shared_ptr<asio::ssl::context> tls,
                       std::string server_name, bool check_server_name, std::function<void()> on_output)
    : io_{io},
      clock_{clock},
      tls_{std::move(tls)},
      server_name_{std::move(server_name)},
      check_server_name_{check_server_name},
      on_output_{std::move(on_output)} {}

RedisWires::~RedisWires() { close_all(); }

void RedisWires::close_all() {
  for (const auto& [number, wire] : wires_) wire->end();
  wires_.clear();
}

void RedisWires::open(std::uint32_t number, const Endpoint& endpoint) {
  close(number);
  const auto wire = std::make_shared<Wire>(*this, number, endpoint);
  wires_.emplace(number, wire);
  wire->begin();
}

void RedisWires::close(std::uint32_t number) {
  const auto found = wires_.find(number);
  if (found == wires_.end()) return;
  found->second->end();
  wires_.erase(found);
}

void RedisWires::has_output(std::uint32_t) {
  if (flush_posted_) return;
  flush_posted_ = true;
  asio::post(io_, [this] { flush(); });
  on_output_();
}

void RedisWires::flush() {
  flush_posted_ = false;
  for (const auto& [number, wire] : wires_) wire->flush();
}

}  // namespace penstock::server
