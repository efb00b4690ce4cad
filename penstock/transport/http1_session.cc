#include "penstock/transport/http1_session.h"

#include <array>
#include <utility>

#include "penstock/base/check.h"
#include "penstock/transport/http1_reply.h"

namespace penstock::transport {
namespace {

constexpr std::size_t kRetainedBytes = 4096;  // of each string of an exchange that waits for reuse

}  // namespace

bool Http1Server::Session::receive(std::string_view bytes, Instant now) {
  forget_last_turn();
  if (reading_ended_) return !failed_;

  now_ = now;
  read(bytes);
  if (!may_go_on_reading()) refuse(503, &Http1Metrics::held_bytes_refused);
  return !failed_;
}

void Http1Server::Session::forget_last_turn() {
  requests_.clear();
  for (Owned& exchange : retired_) {
    exchange->forget(kRetainedBytes);
    idle_.push_back(std::move(exchange));
  }
  retired_.clear();
  retired_bytes_ = 0;
}

void Http1Server::Session::read(std::string_view bytes) {
  if (unparsed_.empty()) {
    parse(bytes);
    if (!reading_ended_) unparsed_.assign(bytes);
  } else {
    unparsed_.append(bytes);
    std::string_view rest = unparsed_;
    parse(rest);
    unparsed_.erase(0, reading_ended_ ? unparsed_.size() : unparsed_.size() - rest.size());
  }
}

// False when a request is here in part, and the loop's budget does not have room for it. Whole ones are answered in
// this turn, and no more than one read brings are held for that long.
bool Http1Server::Session::may_go_on_reading() noexcept {
  const std::size_t held = bytes_to_hold();
  const bool fits = held <= account_.held() || account_.may_take(held - account_.held()) == ByteAccount::Answer::yes;
  account_.hold(held);
  return fits || (!reading_ && unparsed_.empty());
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
    case Http1Parser::Outcome::bad_request: refuse(400, &Http1Metrics::malformed_requests); return false;
    case Http1Parser::Outcome::body_too_large: refuse(413, &Http1Metrics::oversize_bodies); return false;
    case Http1Parser::Outcome::headers_too_large: refuse(431, &Http1Metrics::oversize_headers); return false;
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
  count(&Http1Metrics::requests);
  requests_.push_back(reading_->request(now_));
  open_.push_back(std::move(reading_));
}

// Answers what cannot be taken, when its turn comes; nothing behind it can be told apart.
void Http1Server::Session::refuse(int status, Count reason) {
  static constexpr std::array kHeaders{Header{.name = "content-type", .value = "text/plain; charset=utf-8"},
                                       Header{.name = "x-content-type-options", .value = "nosniff"}};
  const std::string body = std::string{reason_of(status)} + "\n";
  count(reason);
  failed_ = true;
  reading_ended_ = true;
  unparsed_.clear();
  if (!reading_) {  // all that came so far were whole requests
    if (open_.empty()) {
      closed_ = true;
    } else {
      open_.back()->close = true;
    }
    return;
  }
  parser_.reset();
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
  retired_bytes_ += open_.front()->body.size();
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

// What a burst needed is not kept for a connection that waits.
void Http1Server::Session::trim() {
  idle_.clear();
  unparsed_.shrink_to_fit();
  output_.trim();
}

bool Http1Server::Session::expire(Instant now, const Patience& patience) {
  if (slow_reader_.over(output_, now, patience.reply)) {
    count(&Http1Metrics::cut_for_slow_reading);
    return false;
  }
  forget_last_turn();
  account_.hold(bytes_to_hold());
  if (reading_ended_) return true;
  const bool owes_request = parser_.has_value() && open_.empty() && output_.empty();
  if (owes_request && awaited_stream_ != reading_->stream) {
    request_wait_ = {};
    awaited_stream_ = reading_->stream;
  }
  if (request_wait_.over(owes_request, now, patience.request)) {
    refuse(408, &Http1Metrics::late_requests);
  }
  const bool idle = !parser_ && open_.empty() && output_.empty() && served_ == last_stream_;
  served_ = last_stream_;
  if (idle) trim();
  if (idle_wait_.over(idle && !reading_ended_, now, patience.idle)) {
    count(&Http1Metrics::ended_idle);
    shut_down();
  }
  return true;
}

bool Http1Server::Session::wants_input() const noexcept {
  return !reading_ended_ && open_.size() < kMaxPipelined && held_body_bytes_ <= options_.max_body_bytes &&
         output_.size() < options_.max_unsent_bytes && !account_.overdrawn();
}

}  // namespace penstock::transport
