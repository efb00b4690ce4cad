#include "penstock/protocol/debug_endpoint.h"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::protocol {

DebugEndpoint::DebugEndpoint(std::vector<Page> pages) : pages_{std::move(pages)} {
  std::ranges::sort(pages_, {}, &Page::path);
  for (const Page& page : pages_) index_ += page.path + ": " + page.help + '\n';
}

void DebugEndpoint::serve(transport::Http1Server& connection, Instant /*now*/) {
  static constexpr std::array<transport::Header, 2> kHeaders{
      {{"content-type", "text/plain; charset=utf-8"}, {"x-content-type-options", "nosniff"}}};
  for (const transport::Request& request : connection.requests()) {
    const Reply reply = reply_to(request.path.substr(0, request.path.find('?')));
    connection.respond(request.stream,
                       {.status = reply.status, .headers = kHeaders, .body = reply.body, .trailers = {}});
  }
}

DebugEndpoint::Reply DebugEndpoint::reply_to(std::string_view path) const {
  const auto page = std::ranges::find(pages_, path, &Page::path);
  return page == pages_.end() ? Reply{.status = 200, .body = index_} : page->render();
}

}  // namespace penstock::protocol
