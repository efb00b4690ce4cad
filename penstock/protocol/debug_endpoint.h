#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/instant.h"
#include "penstock/transport/http1_server.h"

namespace penstock::protocol {

// The pages of a port for operators, over HTTP/1. "/" lists them, one "path: help" a line; a path that is none of them
// is answered 404 with that list. Any method is answered alike, a query is ignored.
//
// A web page can make its reader's browser ask a port on loopback, by a name of its own that resolves to 127.0.0.1 (DNS
// rebinding). So a Host that is neither `localhost` nor an IP address, with or without a port, is refused: 403. A
// request without Host is none of a browser.
//
// Threading: Loop-owned.
class DebugEndpoint {
 public:
  struct Reply {
    int status = 200;
    std::string body;  // plain text
  };
  struct Page {
    std::string path;
    std::string help;
    std::function<Reply()> render;  // called when the page is asked for
  };

  explicit DebugEndpoint(std::vector<Page> pages);

  // Answers all of `requests()` in place.
  void serve(transport::Http1Server& connection, Instant now);
  void forget(const transport::Http1Server& /*connection*/) {}

 private:
  [[nodiscard]] Reply reply_to(const transport::Request& request) const;

  std::vector<Page> pages_;
  std::string index_;
};

}  // namespace penstock::protocol
