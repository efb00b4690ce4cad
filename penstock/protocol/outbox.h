#pragma once

namespace penstock::transport {
class Http1Server;
class Http2Server;
}  // namespace penstock::transport

namespace penstock::protocol {

// The server's side of a connection, as an endpoint sees it: output that appeared while the connection was not being
// served (a store answered late, health changed) has to reach its socket.
//
// Called once for each late reply, so often more than once for one connection in one turn of the loop: the server notes
// the connection and writes once at the end of the turn. Requires: a call never leads back into the endpoint; a
// connection that is found broken meanwhile is given to `forget` later, before it is destroyed.
// Threading: Loop-owned.
class Outbox {
 public:
  virtual void flush(transport::Http2Server& connection) = 0;
  virtual void flush(transport::Http1Server& connection) = 0;

 protected:
  ~Outbox() = default;
};

}  // namespace penstock::protocol
