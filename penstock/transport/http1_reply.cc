#include "penstock/transport/http1_reply.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include <boost/beast/http/status.hpp>

#include "penstock/base/check.h"

namespace penstock::transport {
namespace {

bool is_line_break(char c) noexcept { return c == '\r' || c == '\n' || c == '\0'; }

bool is_token(std::string_view name) noexcept {
  return !name.empty() && std::ranges::none_of(name, [](char c) { return is_line_break(c) || c == ':' || c == ' '; });
}

template <class Sink>
void append_number(Sink& sink, std::size_t number) {
  std::array<char, 20> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  sink.append(std::string_view{digits.data(), static_cast<std::size_t>(end - digits.data())});
}

// A value with a line break in it would be read as further headers, or as a reply of its own.
template <class Sink>
void append_value(Sink& sink, std::string_view value) {
  for (auto at = std::ranges::find_if(value, is_line_break); at != value.end();
       at = std::ranges::find_if(value, is_line_break)) {
    sink.append(value.substr(0, static_cast<std::size_t>(at - value.begin())));
    sink.append(1, ' ');
    value.remove_prefix(static_cast<std::size_t>(at - value.begin()) + 1);
  }
  sink.append(value);
}

template <class Sink>
void append_header(Sink& sink, const Header& header) {
  PENSTOCK_CHECK(is_token(header.name));
  sink.append(header.name);
  sink.append(std::string_view{": "});
  append_value(sink, header.value);
  sink.append(std::string_view{"\r\n"});
}

template <class Sink>
void write_reply(Sink& sink, const Http1Exchange& exchange, const Response& response) {
  PENSTOCK_CHECK(response.status >= 200 && response.status <= 999);
  sink.append(std::string_view{"HTTP/1.1 "});
  append_number(sink, static_cast<std::size_t>(response.status));
  sink.append(1, ' ');
  sink.append(reason_of(response.status));
  sink.append(std::string_view{"\r\n"});
  for (const Header& header : response.headers) append_header(sink, header);
  const bool bodiless = response.status == 204 || response.status == 304;
  if (!bodiless) {
    sink.append(std::string_view{"content-length: "});
    append_number(sink, response.body.size());
    sink.append(std::string_view{"\r\n"});
  }
  if (exchange.close) {
    sink.append(std::string_view{"connection: close\r\n"});
  } else if (exchange.http_1_0) {
    sink.append(std::string_view{"connection: keep-alive\r\n"});
  }
  sink.append(std::string_view{"\r\n"});
  if (!bodiless && !exchange.head) sink.append(response.body);
}

}  // namespace

std::string_view reason_of(int status) {
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  return {reason.data(), reason.size()};
}

void append_reply(OutputBuffer& out, const Http1Exchange& exchange, const Response& response) {
  write_reply(out, exchange, response);
}

void append_reply(std::string& out, const Http1Exchange& exchange, const Response& response) {
  write_reply(out, exchange, response);
}

}  // namespace penstock::transport
