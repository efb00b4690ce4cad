#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "bench/load_tally.h"

namespace penstock::bench {

struct LoadTarget {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8081;
  std::string body;  // of every request, framed
};

// One HTTP/2 connection of a load client: keeps a number of requests in flight until none is left to send. Every answer
// goes to the tally, decoded. A connection that breaks ends the program: a run with a hole measures nothing.
class LoadConnection {
 public:
  // `left` counts down the requests of all connections together.
  LoadConnection(const LoadTarget& target, LoadTally& tally, std::size_t& left);
  ~LoadConnection();
  LoadConnection(const LoadConnection&) = delete;
  LoadConnection& operator=(const LoadConnection&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return socket_; }

  // Puts `streams` requests in flight.
  void begin(std::size_t streams);
  void write_out();
  void read_in();

 private:
  struct Stream {
    std::uint64_t began = 0;  // nanoseconds
    std::size_t sent = 0;     // of the body
    std::string reply;
    bool status_ok = false;
    bool grpc_ok = false;
  };
  struct SessionCallbacks;
  struct EndSession {
    void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  };

  void submit(Stream& stream);
  void answered(Stream& stream, std::uint32_t error_code);

  const LoadTarget& target_;
  LoadTally& tally_;
  std::size_t& left_;
  int socket_ = -1;
  std::string authority_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::unique_ptr<nghttp2_session, EndSession> session_;
};

}  // namespace penstock::bench
