#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/socket.h>

#include "penstock/base/instant.h"
#include "penstock/server/clock.h"
#include "penstock/transport/patience.h"

namespace penstock::server {

// What a loop lends to its connections.
struct LoopServices {
  const WallOffset& clock;
  std::span<char> read_buffer;  // one for all: its bytes are consumed before the next read
};

// A socket between one transport state machine and the loop's endpoint for it. One turn: read, let the transport cut
// requests out of the bytes, let the endpoint answer them all, write once. Reading stops while the peer leaves too much
// unread, and a connection that is to be closed gets kFarewell to take what was written.
//
// Threading: Loop-owned. Ownership: lives until closed, kept alive by its pending waits and by the loop's table.
template <class Transport, class Endpoint>
class Connection : public std::enable_shared_from_this<Connection<Transport, Endpoint>> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  // After so many reads, or so much time, the loop's other connections have their turn.
  static constexpr int kMaxReadsPerTurn = 4;
  static constexpr Nanoseconds kLongestTurn = std::chrono::milliseconds{1};
  static constexpr std::chrono::seconds kFarewell{1};

  template <class Options>
  Connection(Socket socket, LoopServices services, Endpoint& endpoint, const Options& options,
             std::function<void(const Transport&)> on_closed)
      : socket_{std::move(socket)},
        farewell_{socket_.get_executor()},
        services_{services},
        endpoint_{endpoint},
        transport_{options},
        on_closed_{std::move(on_closed)} {}

  [[nodiscard]] const Transport& transport() const noexcept { return transport_; }

  void start() {
    flush();  // a server's SETTINGS go first
    read_when_ready();
  }

  // Writes what the transport has for the peer, as far as the socket takes it, and goes on reading when that made room.
  void flush() {
    while (is_open() && write()) {
      if (!take_paused()) break;
    }
    if (!is_open() || awaiting_write_) return;
    const bool nothing_owed = peer_ended_ && transport_.open_streams() == 0;
    if (nothing_owed || transport_.finished()) {
      say_farewell();
    } else if (transport_.wants_input()) {
      read_when_ready();
    }
  }

  // Tells the peer with its next answer that the connection ends, so that it does not send into a closing one.
  void announce_end() { transport_.announce_end(); }

  // What the socket holds already is answered first.
  void shut_down() {
    if (!saying_farewell_ && !peer_ended_ && !broken_) read();
    if (!is_open()) return;
    transport_.shut_down();
    flush();
  }

  // Ends what has waited too long for the peer; see the transport's `expire`.
  void expire(Instant now, const transport::Patience& patience) {
    if (!is_open() || saying_farewell_) return;
    if (transport_.expire(now, patience)) {
      flush();
    } else {
      close();
    }
  }

  void close() {
    if (!is_open()) return;
    const auto self = this->shared_from_this();
    boost::system::error_code ignored;
    socket_.close(ignored);
    farewell_.cancel();
    endpoint_.forget(transport_);
    on_closed_(transport_);
  }

 private:
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }

  void read_when_ready() {
    if (awaiting_read_ || reading_ || !is_open()) return;
    if (!saying_farewell_ && (peer_ended_ || broken_)) return;
    awaiting_read_ = true;
    socket_.async_wait(Socket::wait_read, [self = this->shared_from_this()](boost::system::error_code error) {
      self->awaiting_read_ = false;
      if (!error) self->read();
    });
  }

  void write_when_ready() {
    if (awaiting_write_) return;
    awaiting_write_ = true;
    socket_.async_wait(Socket::wait_write, [self = this->shared_from_this()](boost::system::error_code error) {
      self->awaiting_write_ = false;
      if (!error) self->flush();
    });
  }

  // True when everything went out.
  bool write() {
    while (!transport_.output().empty()) {
      const std::string_view output = transport_.output();
      const ssize_t sent = ::send(socket_.native_handle(), output.data(), output.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        transport_.written(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        write_when_ready();
        return false;
      } else if (errno != EINTR) {
        close();
        return false;
      }
    }
    return true;
  }

  void read() {
    reading_ = true;
    bool more = true;
    Nanoseconds turn_began{};
    for (int reads = 0; more && reads < kMaxReadsPerTurn; ++reads) {
      more = read_once();
      if (reads == 0) turn_began = read_at_;
      if (more && read_monotonic() - turn_began > kLongestTurn) break;
    }
    reading_ = false;
    if (is_open() && (saying_farewell_ || transport_.wants_input())) read_when_ready();
  }

  // One read and all that follows from it; false when there is nothing more to read for now.
  bool read_once() {
    const std::span<char> buffer = services_.read_buffer;
    const ssize_t size = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) return true;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (size < 0 || (size == 0 && saying_farewell_)) {
      close();
      return false;
    }
    if (saying_farewell_) return true;  // too late for more requests
    if (size == 0) {
      peer_ended_ = true;
      start_farewell_timer();
      flush();
      return false;
    }
    take({buffer.data(), static_cast<std::size_t>(size)});
    flush();
    return is_open() && transport_.wants_input() && static_cast<std::size_t>(size) == buffer.size();
  }

  // Hands bytes to the transport and its requests to the endpoint.
  void take(std::string_view bytes) {
    read_at_ = read_monotonic();
    const bool healthy = transport_.receive(bytes, Instant{read_at_});
    endpoint_.serve(transport_, services_.clock.at(read_at_));
    if (healthy || broken_) return;
    broken_ = true;
    start_farewell_timer();
  }

  // Requests that were held back until their turn; false when there are none.
  bool take_paused() {
    if (broken_ || !transport_.paused() || !transport_.wants_input()) return false;
    take({});
    return true;
  }

  // The write side ends first and the peer closes: closing at once with bytes unread would make the kernel send a reset
  // that can overtake the last answer.
  void say_farewell() {
    if (saying_farewell_) return;
    saying_farewell_ = true;
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    start_farewell_timer();
    read_when_ready();
  }

  void start_farewell_timer() {
    farewell_.expires_after(kFarewell);
    farewell_.async_wait([self = this->shared_from_this()](boost::system::error_code error) {
      if (!error) self->close();
    });
  }

  Socket socket_;
  boost::asio::steady_timer farewell_;
  LoopServices services_;
  Endpoint& endpoint_;
  Transport transport_;
  std::function<void(const Transport&)> on_closed_;
  bool awaiting_read_ = false;
  bool awaiting_write_ = false;
  bool reading_ = false;  // inside `read`, which re-arms itself
  Nanoseconds read_at_{};
  bool peer_ended_ = false;  // the peer sends no more; what it is owed still goes out
  bool broken_ = false;      // the peer broke the protocol; the transport says what it is told
  bool saying_farewell_ = false;
};

}  // namespace penstock::server
