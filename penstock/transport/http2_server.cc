#include "penstock/transport/http2_server.h"

#include "penstock/transport/http2_session.h"

namespace penstock::transport {

Http2Server::Http2Server(const Http2Options& options) : session_{std::make_unique<Session>(options)} {}
Http2Server::~Http2Server() = default;

bool Http2Server::receive(std::string_view bytes, Instant now) { return session_->receive(bytes, now); }
std::span<const Request> Http2Server::requests() const noexcept { return session_->requests(); }
std::span<const std::int32_t> Http2Server::resets() const noexcept { return session_->resets(); }

void Http2Server::respond(std::int32_t stream, const Response& response) { session_->respond(stream, response); }

void Http2Server::begin_stream(std::int32_t stream, std::span<const Header> headers) {
  session_->begin_stream(stream, headers);
}

void Http2Server::send_data(std::int32_t stream, std::string_view bytes) { session_->send_data(stream, bytes); }

void Http2Server::end_stream(std::int32_t stream, std::span<const Header> trailers) {
  session_->end_stream(stream, trailers);
}

void Http2Server::consume(std::int32_t stream, std::size_t size) { session_->consume(stream, size); }
void Http2Server::shut_down() { session_->shut_down(); }

bool Http2Server::expire(Instant now, const Patience& patience) { return session_->expire(now, patience); }

std::string_view Http2Server::output() { return session_->output(); }
void Http2Server::written(std::size_t size) { session_->written(size); }
bool Http2Server::wants_input() const noexcept { return session_->wants_input(); }
bool Http2Server::finished() const noexcept { return session_->finished(); }
std::size_t Http2Server::open_streams() const noexcept { return session_->open_streams(); }
std::size_t Http2Server::held_bytes() const noexcept { return session_->held_bytes(); }

}  // namespace penstock::transport
