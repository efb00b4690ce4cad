#include "penstock/transport/http1_server.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/beast/http/status.hpp>

#include "penstock/base/check.h"
#include "penstock/transport/http1_parser.h"
#include "penstock/transport/output_buffer.h"

namespace penstock::transport {
namespace {

constexpr std::size_t kRetainedBytes = 4096;  // of each string of an exchange that waits for reuse

bool is_line_break(char c) noexcept { return c == '\r' || c == '\n' || c == '\0'; }

bool is_token(std::string_view name) noexcept {
  return !name.empty() && std::ranges::none_of(name, [](char c) { return is_line_break(c) || c == ':' || c == ' '; });
}

std::string_view reason_of(int status) {
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  return {reason.data(), reason.size()};
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
void append_reply(Sink& sink, const Http1Exchange& exchange, const Response& response) {
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

class Http1Server::Session {
 public:
  explicit Session(const Http1Options& options) : options_{options} {}

  bool receive(std::string_view bytes, Instant now);
  [[nodiscard]] std::span<const Request> requests() const noexcept { return requests_; }
  void respond(std::int32_t stream, const Response& response);
  void shut_down();
  void announce_end() noexcept { announced_ = true; }
  [[nodiscard]] std::string_view output() const noexcept { return output_.unsent(); }
  void written(std::size_t size) { output_.written(size); }
  [[nodiscard]] bool wants_input() const noexcept;
  [[nodiscard]] bool paused() const noexcept { return paused_ && !reading_ended_; }
  [[nodiscard]] bool finished() const noexcept { return closed_ && output_.empty(); }
  [[nodiscard]] std::size_t open_streams() const noexcept { return open_.size(); }

 private:
  using Owned = std::unique_ptr<Http1Exchange>;

  void parse(std::string_view& bytes);
  bool parse_step(std::string_view& bytes);
  void begin_request();
  void complete_request();
  void refuse(int status);
  void send_due_replies();
  void send_due_continue();
  [[nodiscard]] Owned new_exchange();
  void retire_front();

  const Http1Options options_;
  Instant now_;
  std::int32_t last_stream_ = 0;
  bool announced_ = false;      // `announce_end` was called
  bool ending_ = false;         // `shut_down` was called
  bool reading_ended_ = false;  // what comes is dropped
  bool failed_ = false;         // since it could not be parsed
  bool paused_ = false;
  bool closed_ = false;  // the last reply is in the output
  std::size_t held_body_bytes_ = 0;

  std::string unparsed_;
  Owned reading_;  // the request that is being read
  std::optional<Http1Parser> parser_;
  bool continue_sent_ = false;

  std::vector<Owned> open_;     // handed out and not answered, or answered and not their turn; streams without gaps
  std::vector<Owned> retired_;  // in this turn; their requests are still shown
  std::vector<Owned> idle_;
  std::vector<Request> requests_;
  OutputBuffer output_;
};

bool Http1Server::Session::receive(std::string_view bytes, Instant now) {
  requests_.clear();
  for (Owned& exchange : retired_) {
    exchange->forget(kRetainedBytes);
    idle_.push_back(std::move(exchange));
  }
  retired_.clear();
  if (reading_ended_) return !failed_;

  now_ = now;
  if (unparsed_.empty()) {
    parse(bytes);
    if (!reading_ended_) unparsed_.assign(bytes);
  } else {
    unparsed_.append(bytes);
    std::string_view rest = unparsed_;
    parse(rest);
    unparsed_.erase(0, reading_ended_ ? unparsed_.size() : unparsed_.size() - rest.size());
  }
  return !failed_;
}

void Http1Server::Session::parse(std::string_view& bytes) {
  while (!reading_ended_ && wants_input() && parse_step(bytes)) {
  }
  paused_ = !bytes.empty() && !wants_input();
  send_due_continue();
}

// True when it has taken something and more may follow.
bool Http1Server::Session::parse_step(std::string_view& bytes) {
  if (bytes.empty()) return false;
  if (!parser_) {
    // RFC 9112 2.2: empty lines before a request are passed over.
    while (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
    if (bytes.empty() || bytes == "\r") return false;
    begin_request();
  }
  switch (parser_->parse(bytes)) {
    case Http1Parser::Outcome::need_more: return false;
    case Http1Parser::Outcome::complete: complete_request(); return true;
    case Http1Parser::Outcome::bad_request: refuse(400); return false;
    case Http1Parser::Outcome::body_too_large: refuse(413); return false;
    case Http1Parser::Outcome::headers_too_large: refuse(431); return false;
  }
  std::unreachable();
}

void Http1Server::Session::begin_request() {
  reading_ = new_exchange();
  reading_->stream = ++last_stream_;
  reading_->began = now_;
  continue_sent_ = false;
  parser_.emplace(
      *reading_, Http1Parser::Limits{.body_bytes = options_.max_body_bytes, .header_bytes = options_.max_header_bytes});
}

void Http1Server::Session::complete_request() {
  parser_.reset();
  if (ending_ || announced_) reading_->close = true;
  if (reading_->close) reading_ended_ = true;
  held_body_bytes_ += reading_->body.size();
  requests_.push_back(reading_->request());
  open_.push_back(std::move(reading_));
}

// Answers what cannot be parsed, when its turn comes; nothing behind it can be told apart.
void Http1Server::Session::refuse(int status) {
  static constexpr std::array kHeaders{Header{.name = "content-type", .value = "text/plain; charset=utf-8"},
                                       Header{.name = "x-content-type-options", .value = "nosniff"}};
  const std::string body = std::string{reason_of(status)} + "\n";
  parser_.reset();
  failed_ = true;
  reading_ended_ = true;
  reading_->close = true;
  held_body_bytes_ += reading_->body.size();
  const std::int32_t stream = reading_->stream;
  open_.push_back(std::move(reading_));
  respond(stream, {.status = status, .headers = kHeaders, .body = body, .trailers = {}});
}

void Http1Server::Session::respond(std::int32_t stream, const Response& response) {
  if (open_.empty() || stream < open_.front()->stream || stream > open_.back()->stream) return;
  Http1Exchange& exchange = *open_[static_cast<std::size_t>(stream - open_.front()->stream)];
  if (exchange.answered) return;
  exchange.answered = true;
  if (&exchange == open_.front().get()) {
    append_reply(output_, exchange, response);
  } else {
    append_reply(exchange.reply, exchange, response);
  }
  send_due_replies();
}

void Http1Server::Session::send_due_replies() {
  while (!open_.empty() && open_.front()->answered) {
    output_.append(open_.front()->reply);
    closed_ = closed_ || open_.front()->close;
    retire_front();
  }
  send_due_continue();
}

// Only when all replies before it are out: it belongs to the request that is being read.
void Http1Server::Session::send_due_continue() {
  if (!parser_ || continue_sent_ || !open_.empty() || !parser_->awaits_continue()) return;
  output_.append("HTTP/1.1 100 Continue\r\n\r\n");
  continue_sent_ = true;
}

Http1Server::Session::Owned Http1Server::Session::new_exchange() {
  if (idle_.empty()) return std::make_unique<Http1Exchange>();
  Owned exchange = std::move(idle_.back());
  idle_.pop_back();
  return exchange;
}

void Http1Server::Session::retire_front() {
  held_body_bytes_ -= open_.front()->body.size();
  retired_.push_back(std::move(open_.front()));
  open_.erase(open_.begin());
}

void Http1Server::Session::shut_down() {
  if (ending_ || reading_ended_) return;
  ending_ = true;
  if (!open_.empty()) {
    open_.back()->close = true;
  } else if (parser_) {
    return;
  } else {
    closed_ = true;
  }
  parser_.reset();
  reading_ended_ = true;
}

bool Http1Server::Session::wants_input() const noexcept {
  return !reading_ended_ && open_.size() < kMaxPipelined && held_body_bytes_ <= options_.max_body_bytes &&
         output_.size() < options_.max_unsent_bytes;
}

Http1Server::Http1Server(const Http1Options& options) : session_{std::make_unique<Session>(options)} {}
Http1Server::~Http1Server() = default;

bool Http1Server::receive(std::string_view bytes, Instant now) { return session_->receive(bytes, now); }
std::span<const Request> Http1Server::requests() const noexcept { return session_->requests(); }
void Http1Server::respond(std::int32_t stream, const Response& response) { session_->respond(stream, response); }
void Http1Server::shut_down() { session_->shut_down(); }
void Http1Server::announce_end() noexcept { session_->announce_end(); }
std::string_view Http1Server::output() { return session_->output(); }
void Http1Server::written(std::size_t size) { session_->written(size); }
bool Http1Server::wants_input() const noexcept { return session_->wants_input(); }
bool Http1Server::paused() const noexcept { return session_->paused(); }
bool Http1Server::finished() const noexcept { return session_->finished(); }
std::size_t Http1Server::open_streams() const noexcept { return session_->open_streams(); }

}  // namespace penstock::transport
