#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/instant.h"
#include "penstock/transport/http1_server.h"

namespace penstock::protocol {

// The pages of a port for operators, over HTTP/1. As in envoyproxy/ratelimit "/" and every unknown path list the pages,
// one "path: help" a line, with status 200. Any method is answered alike, a query is ignored.
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
  [[nodiscard]] Reply reply_to(std::string_view path) const;

  std::vector<Page> pages_;
  std::string index_;
};

}  // namespace penstock::protocol
