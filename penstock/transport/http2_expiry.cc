// How Http2Server's session ends what has waited too long for the peer.

#include "penstock/transport/http2_session.h"

namespace penstock::transport {

bool Http2Server::Session::expire(Instant now, const Patience& patience) {
  if (slow_reader_.over(output_, now, patience.reply)) {
    count(&Http2Metrics::cut_for_slow_reading);
    return false;
  }
  forget_last_turn();
  account_output();
  const bool idle = open_ == 0 && opened_ == opened_then_;
  opened_then_ = opened_;
  if (idle_wait_.over(idle, now, patience.request)) trim();
  if (broken_) return true;
  if (preface_wait_.over(!met_, now, patience.request)) {
    cut(NGHTTP2_SETTINGS_TIMEOUT, &Http2Metrics::cut_for_preface);
  } else if (unused_wait_.over(idle && ending_ == Ending::no, now, patience.unused)) {
    count(&Http2Metrics::ended_unused);
    shut_down();
    shut_down();
  } else if (open_ > 0) {
    expire_streams(now, patience);
  }
  return true;
}

// What a burst needed is not kept by a connection that is used no more; there may be thousands of those.
void Http2Server::Session::trim() {
  streams_.trim();
  memory_.trim();
  output_.trim();
  current_ = nullptr;
}

void Http2Server::Session::expire_streams(Instant now, const Patience& patience) {
  for (const std::unique_ptr<Http2Stream>& stream : streams_.all()) {
    if (stream->id == 0 || nghttp2_session_get_stream_user_data(session_.get(), stream->id) != stream.get()) continue;
    const bool owes_request = !stream->complete && stream->reply == Http2Stream::Reply::none;
    const bool owes_reading = stream->reply == Http2Stream::Reply::ended;
    if (stream->request_wait.over(owes_request, now, patience.request)) {
      reset(*stream, NGHTTP2_CANCEL, &Http2Metrics::late_requests);
    } else if (stream->reply_wait.over(owes_reading, now, patience.reply)) {
      reset(*stream, NGHTTP2_CANCEL, &Http2Metrics::late_replies);
    }
  }
}

}  // namespace penstock::transport
