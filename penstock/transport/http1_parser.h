#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>

#include "penstock/transport/http1_exchange.h"

namespace penstock::transport {

// Beast's request parser, told to keep only what a Request shows and to store it in an Http1Exchange. For one request.
//
// Beyond Beast it refuses: a request of HTTP/1.1 without exactly one Host (RFC 9112 3.2), and a Transfer-Encoding other
// than "chunked", whose end Beast would misjudge. It counts the header across calls; Beast's limit is for one call.
// Ownership: the exchange must outlive it.
class Http1Parser final : public boost::beast::http::basic_parser<true> {
 public:
  enum class Outcome : std::uint8_t { need_more, complete, bad_request, body_too_large, headers_too_large };

  struct Limits {
    std::uint64_t body_bytes;
    std::uint32_t header_bytes;
  };

  Http1Parser(Http1Exchange& exchange, const Limits& limits);

  // Removes from the front of `bytes` what it has parsed; with need_more the rest must come again, with more behind it.
  [[nodiscard]] Outcome parse(std::string_view& bytes);

  // The headers came with `Expect: 100-continue` and the body did not come yet.
  [[nodiscard]] bool awaits_continue() const noexcept { return expects_continue_ && is_header_done() && !got_body_; }

 private:
  using Error = boost::beast::error_code;
  using Text = boost::beast::string_view;
  using Field = boost::beast::http::field;

  void on_request_impl(boost::beast::http::verb, Text method, Text target, int version, Error& error) override;
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(Field field, Text name, Text value, Error& error) override;
  void on_header_impl(Error& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text bytes, Error& error) override;
  void on_chunk_header_impl(std::uint64_t size, Text extensions, Error& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remaining, Text bytes, Error& error) override;
  void on_finish_impl(Error&) override {}

  void count_header(std::size_t size, Error& error);

  Http1Exchange& exchange_;
  const std::uint32_t max_header_bytes_;
  std::size_t header_bytes_ = 0;
  int hosts_ = 0;
  bool expects_continue_ = false;
  bool transfer_encoding_ = false;
  bool got_body_ = false;
};

}  // namespace penstock::transport
