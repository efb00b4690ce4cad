#include "penstock/protocol/debug_endpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <ranges>
#include <utility>

namespace penstock::protocol {
namespace {

constexpr std::string_view kForbidden =
    "refused: the Host of the request is neither localhost nor an IP address; ask by one of these, so that no web page "
    "reads this port by a name of its own\n";

template <class Number>
bool is(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// `host`, `host:port` or `[v6]:port` without its port; nothing where what stands there is no port.
std::optional<std::string_view> without_port(std::string_view text) {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return text;
  const std::string_view port = text.substr(colon + 1);
  if (!port.empty() && !is<std::uint16_t>(port)) return std::nullopt;
  return text.substr(0, colon);
}

bool is_localhost(std::string_view name) {
  return std::ranges::equal(name, std::string_view{"localhost"}, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}

// Nothing of the name service has these forms, which is what counts: four numbers, or brackets around hex and colons.
bool is_address(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) {
    const std::string_view v6 = text.substr(1, text.size() - 2);
    return v6.contains(':') && v6.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  }
  int parts = 0;
  for (const auto part : std::views::split(text, '.')) {
    ++parts;
    if (!is<std::uint8_t>(std::string_view{part})) return false;
  }
  return parts == 4;
}

bool is_acceptable(std::string_view host) {
  if (host.empty()) return true;
  const std::optional<std::string_view> name = without_port(host);
  return name && (is_localhost(*name) || is_address(*name));
}

}  // namespace

DebugEndpoint::DebugEndpoint(std::vector<Page> pages) : pages_{std::move(pages)} {
  std::ranges::sort(pages_, {}, &Page::path);
  for (const Page& page : pages_) index_ += page.path + ": " + page.help + '\n';
}

void DebugEndpoint::serve(transport::Http1Server& connection, Instant /*now*/) {
  static constexpr std::array<transport::Header, 2> kHeaders{
      {{"content-type", "text/plain; charset=utf-8"}, {"x-content-type-options", "nosniff"}}};
  for (const transport::Request& request : connection.requests()) {
    const Reply reply = reply_to(request);
    connection.respond(request.stream,
                       {.status = reply.status, .headers = kHeaders, .body = reply.body, .trailers = {}});
  }
}

DebugEndpoint::Reply DebugEndpoint::reply_to(const transport::Request& request) const {
  if (!is_acceptable(request.host)) return {.status = 403, .body = std::string{kForbidden}};
  const std::string_view path = request.path.substr(0, request.path.find('?'));
  if (path == "/") return {.status = 200, .body = index_};
  const auto page = std::ranges::find(pages_, path, &Page::path);
  return page == pages_.end() ? Reply{.status = 404, .body = index_} : page->render();
}

}  // namespace penstock::protocol
