#include "penstock/transport/http1_server.h"

#include "penstock/transport/http1_session.h"

namespace penstock::transport {

Http1Server::Http1Server(const Http1Options& options) : session_{std::make_unique<Session>(options)} {}
Http1Server::~Http1Server() = default;

bool Http1Server::receive(std::string_view bytes, Instant now) { return session_->receive(bytes, now); }
std::span<const Request> Http1Server::requests() const noexcept { return session_->requests(); }
void Http1Server::respond(std::int32_t stream, const Response& response) { session_->respond(stream, response); }
void Http1Server::shut_down() { session_->shut_down(); }
bool Http1Server::expire(Instant now, const Patience& patience) { return session_->expire(now, patience); }
void Http1Server::announce_end() noexcept { session_->announce_end(); }
std::string_view Http1Server::output() { return session_->output(); }
void Http1Server::written(std::size_t size) { session_->written(size); }
bool Http1Server::wants_input() const noexcept { return session_->wants_input(); }
bool Http1Server::paused() const noexcept { return session_->paused(); }
bool Http1Server::finished() const noexcept { return session_->finished(); }
std::size_t Http1Server::open_streams() const noexcept { return session_->open_streams(); }
std::size_t Http1Server::held_bytes() const noexcept { return session_->held_bytes(); }

}  // namespace penstock::transport
