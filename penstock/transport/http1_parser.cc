#include "penstock/transport/http1_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

namespace penstock::transport {
namespace {

namespace http = boost::beast::http;

// "0\r\n\r\n": every chunked body ends with it, so fewer bytes never end one. Beast asserts that it sees them together.
constexpr std::size_t kLeastChunkedRest = 5;

}  // namespace

Http1Parser::Http1Parser(Http1Exchange& exchange, const Limits& limits)
    : exchange_{exchange}, max_header_bytes_{limits.header_bytes} {
  body_limit(limits.body_bytes);
  header_limit(limits.header_bytes);
  eager(true);
}

Http1Parser::Outcome Http1Parser::parse(std::string_view& bytes) {
  if (is_header_done() && chunked() && bytes.size() < kLeastChunkedRest) return Outcome::need_more;
  Error error;
  const std::size_t parsed = put(boost::asio::const_buffer{bytes.data(), bytes.size()}, error);
  bytes.remove_prefix(parsed);
  if (error == http::error::header_limit) return Outcome::headers_too_large;
  if (error == http::error::body_limit) return Outcome::body_too_large;
  if (error && error != http::error::need_more) return Outcome::bad_request;
  if (is_done()) {
    exchange_.close = !keep_alive();
    return Outcome::complete;
  }
  // What is left is one line that does not end: a start line, a field, or a chunk's header.
  return bytes.size() > max_header_bytes_ ? Outcome::bad_request : Outcome::need_more;
}

void Http1Parser::count_header(std::size_t size, Error& error) {
  header_bytes_ += size;
  if (header_bytes_ > max_header_bytes_) error = http::error::header_limit;
}

void Http1Parser::on_request_impl(http::verb, Text method, Text target, int version, Error& error) {
  count_header(method.size() + target.size(), error);
  exchange_.method.assign(method.data(), method.size());
  exchange_.path.assign(target.data(), target.size());
  exchange_.http_1_0 = version == 10;
  exchange_.head = method == "HEAD";
}

void Http1Parser::on_field_impl(Field field, Text name, Text value, Error& error) {
  count_header(name.size() + value.size(), error);
  if (is_header_done()) return;  // a trailer
  const auto keep = [value](std::string& into) { into.assign(value.data(), value.size()); };
  switch (field) {
    case Field::host:
      ++hosts_;
      keep(exchange_.host);
      break;
    case Field::content_type: keep(exchange_.content_type); break;
    case Field::expect: expects_continue_ = boost::beast::iequals(value, "100-continue"); break;
    case Field::transfer_encoding:
      transfer_encoding_ = true;
      if (!boost::beast::iequals(value, "chunked")) error = http::error::bad_transfer_encoding;
      break;
    default:
      if (boost::beast::iequals(name, "grpc-timeout")) keep(exchange_.grpc_timeout);
      if (boost::beast::iequals(name, "grpc-encoding")) keep(exchange_.grpc_encoding);
      break;
  }
}

void Http1Parser::on_header_impl(Error& error) {
  if (!exchange_.http_1_0 && hosts_ != 1) error = http::error::bad_field;
  // HTTP/1.0 knows neither; a proxy in between may have passed them on without understanding.
  if (exchange_.http_1_0 && transfer_encoding_) error = http::error::bad_transfer_encoding;
  if (exchange_.http_1_0) expects_continue_ = false;
}

std::size_t Http1Parser::on_body_impl(Text bytes, Error&) {
  got_body_ = true;
  exchange_.body.append(bytes.data(), bytes.size());
  return bytes.size();
}

void Http1Parser::on_chunk_header_impl(std::uint64_t, Text extensions, Error& error) {
  got_body_ = true;
  if (extensions.size() > max_header_bytes_) error = http::error::bad_chunk_extension;
}

std::size_t Http1Parser::on_chunk_body_impl(std::uint64_t, Text bytes, Error& error) {
  return on_body_impl(bytes, error);
}

}  // namespace penstock::transport
