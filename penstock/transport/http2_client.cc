#include "penstock/transport/http2_client.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <map>

#include <nghttp2/nghttp2.h>

#include "penstock/base/check.h"
#include "penstock/transport/http2_fields.h"
#include "penstock/transport/output_buffer.h"

namespace penstock::transport {

class Http2Client::Session {
 public:
  explicit Session(const Http2ClientOptions& options);

  std::int32_t post(std::string_view authority, std::string_view path, std::span<const Header> headers,
                    std::string_view body, bool end);
  void send_data(std::int32_t id, std::string_view bytes, bool end);
  void reset(std::int32_t id, std::uint32_t code);
  bool receive(std::string_view bytes);
  std::optional<ClientResponse> next_response();
  [[nodiscard]] std::string_view partial_body(std::int32_t id) const;
  [[nodiscard]] bool goaway_received() const noexcept { return goaway_received_; }
  std::string_view output();
  void written(std::size_t size) { output_.written(size); }

 private:
  struct Exchange {
    std::string unsent;
    bool ended = false;     // nothing will be added to `unsent`
    bool answered = false;  // the server ended the stream
    ClientResponse response;
  };

  struct Delete {
    void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  };

  // More than a terminal or a test reads; the server's flow control is what bounds an answer in the first place.
  static constexpr std::int32_t kConnectionWindowBytes = 16 * 1024 * 1024;

  static Session& of(void* user) noexcept { return *static_cast<Session*>(user); }
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                    const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user);
  static int data_received(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes, std::size_t size,
                           void* user);
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user);
  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user);
  static ssize_t read_request(nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t max,
                              std::uint32_t* flags, nghttp2_data_source*, void* user);

  void make_session();
  [[nodiscard]] Exchange* find(std::int32_t id);
  void add_field(Exchange& exchange, std::string_view name, std::string_view value);
  void close(std::int32_t id, bool whole);

  Http2ClientOptions options_;
  bool goaway_received_ = false;
  bool broken_ = false;
  std::map<std::int32_t, Exchange> exchanges_;
  std::deque<ClientResponse> complete_;
  OutputBuffer output_;
  std::unique_ptr<nghttp2_session, Delete> session_;
};

Http2Client::Session::Session(const Http2ClientOptions& options) : options_{options} {
  make_session();
  const std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.initial_window_bytes},
  };
  PENSTOCK_CHECK(nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
  PENSTOCK_CHECK(nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes) ==
                 0);
}

void Http2Client::Session::make_session() {
  nghttp2_session_callbacks* callbacks = nullptr;
  PENSTOCK_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data_received);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_received);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, frame_not_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
  nghttp2_session* made = nullptr;
  PENSTOCK_CHECK(nghttp2_session_client_new(&made, callbacks, this) == 0);
  nghttp2_session_callbacks_del(callbacks);
  session_.reset(made);
}

Http2Client::Session::Exchange* Http2Client::Session::find(std::int32_t id) {
  const auto found = exchanges_.find(id);
  return found == exchanges_.end() ? nullptr : &found->second;
}

std::int32_t Http2Client::Session::post(std::string_view authority, std::string_view path,
                                        std::span<const Header> headers, std::string_view body, bool end) {
  std::vector<nghttp2_nv> fields{
      field_of(":method", "POST", NGHTTP2_NV_FLAG_NONE), field_of(":scheme", "http", NGHTTP2_NV_FLAG_NONE),
      field_of(":authority", authority, NGHTTP2_NV_FLAG_NONE), field_of(":path", path, NGHTTP2_NV_FLAG_NONE)};
  for (const Header& header : headers) {
    fields.push_back(field_of(header.name, header.value, NGHTTP2_NV_FLAG_NONE));
  }
  const nghttp2_data_provider data{.source = {.ptr = nullptr}, .read_callback = read_request};
  const bool without_body = end && body.empty();
  const std::int32_t id = nghttp2_submit_request(session_.get(), nullptr, fields.data(), fields.size(),
                                                 without_body ? nullptr : &data, nullptr);
  PENSTOCK_CHECK(id > 0);
  Exchange& exchange = exchanges_[id];
  exchange.unsent = body;
  exchange.ended = end;
  exchange.response.stream = id;
  return id;
}

void Http2Client::Session::send_data(std::int32_t id, std::string_view bytes, bool end) {
  Exchange* exchange = find(id);
  if (exchange == nullptr || exchange->ended) return;
  exchange->unsent.append(bytes);
  exchange->ended = end;
  static_cast<void>(nghttp2_session_resume_data(session_.get(), id));
}

void Http2Client::Session::reset(std::int32_t id, std::uint32_t code) {
  if (exchanges_.erase(id) == 0) return;
  static_cast<void>(nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, code));
}

bool Http2Client::Session::receive(std::string_view bytes) {
  if (broken_) return false;
  const ssize_t read = nghttp2_session_mem_recv(session_.get(), bytes_of(bytes), bytes.size());
  static_cast<void>(output());
  broken_ = read < 0 || nghttp2_session_want_read(session_.get()) == 0;
  return !broken_;
}

std::optional<ClientResponse> Http2Client::Session::next_response() {
  if (complete_.empty()) return std::nullopt;
  std::optional<ClientResponse> response{std::move(complete_.front())};
  complete_.pop_front();
  return response;
}

std::string_view Http2Client::Session::partial_body(std::int32_t id) const {
  const auto found = exchanges_.find(id);
  return found == exchanges_.end() ? std::string_view{} : std::string_view{found->second.response.body};
}

std::string_view Http2Client::Session::output() {
  const std::uint8_t* bytes = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_.get(), &bytes)) > 0;) {
    output_.append(text_of(bytes, static_cast<std::size_t>(size)));
  }
  return output_.unsent();
}

void Http2Client::Session::add_field(Exchange& exchange, std::string_view name, std::string_view value) {
  if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), exchange.response.status);
    return;
  }
  exchange.response.headers.emplace_back(name, value);
}

void Http2Client::Session::close(std::int32_t id, bool whole) {
  const auto found = exchanges_.find(id);
  if (found == exchanges_.end()) return;
  found->second.response.reset = !whole;
  complete_.push_back(std::move(found->second.response));
  exchanges_.erase(found);
}

int Http2Client::Session::header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                                 std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                                 void* user) {
  if (Exchange* exchange = of(user).find(frame->hd.stream_id); exchange != nullptr) {
    of(user).add_field(*exchange, text_of(name, name_size), text_of(value, value_size));
  }
  return 0;
}

int Http2Client::Session::data_received(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                                        std::size_t size, void* user) {
  Session& session = of(user);
  Exchange* exchange = session.find(id);
  if (exchange == nullptr) return 0;
  if (exchange->response.body.size() + size > session.options_.max_body_bytes) {
    static_cast<void>(nghttp2_submit_rst_stream(session.session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL));
    session.close(id, false);
    return 0;
  }
  exchange->response.body.append(text_of(bytes, size));
  return 0;
}

int Http2Client::Session::frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  Session& session = of(user);
  if (frame->hd.type == NGHTTP2_GOAWAY) session.goaway_received_ = true;
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  Exchange* exchange = session.find(frame->hd.stream_id);
  if (exchange == nullptr) return 0;
  exchange->answered = true;
  // The answer stands though the request is not all sent: the rest is of no use to anyone.
  if (nghttp2_session_get_stream_local_close(session.session_.get(), frame->hd.stream_id) == 0) {
    static_cast<void>(
        nghttp2_submit_rst_stream(session.session_.get(), NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_CANCEL));
    session.close(frame->hd.stream_id, true);
  }
  return 0;
}

int Http2Client::Session::frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
  if (frame->hd.type == NGHTTP2_HEADERS) of(user).close(frame->hd.stream_id, false);
  return 0;
}

int Http2Client::Session::stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
  const Exchange* exchange = of(user).find(id);
  if (exchange != nullptr) of(user).close(id, exchange->answered && code == NGHTTP2_NO_ERROR);
  return 0;
}

ssize_t Http2Client::Session::read_request(nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t max,
                                           std::uint32_t* flags, nghttp2_data_source*, void* user) {
  Exchange* exchange = of(user).find(id);
  if (exchange == nullptr) return NGHTTP2_ERR_DEFERRED;  // its RST_STREAM is queued
  if (exchange->unsent.empty() && !exchange->ended) return NGHTTP2_ERR_DEFERRED;
  const std::size_t size = std::min(max, exchange->unsent.size());
  std::copy_n(exchange->unsent.data(), size, buffer);
  exchange->unsent.erase(0, size);
  if (exchange->ended && exchange->unsent.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

Http2Client::Http2Client(const Http2ClientOptions& options) : session_{std::make_unique<Session>(options)} {}
Http2Client::~Http2Client() = default;

std::int32_t Http2Client::post(std::string_view authority, std::string_view path, std::span<const Header> headers,
                               std::string_view body, bool end) {
  return session_->post(authority, path, headers, body, end);
}

void Http2Client::send_data(std::int32_t stream, std::string_view bytes, bool end) {
  session_->send_data(stream, bytes, end);
}

void Http2Client::reset(std::int32_t stream, std::uint32_t code) { session_->reset(stream, code); }
bool Http2Client::receive(std::string_view bytes) { return session_->receive(bytes); }
std::optional<ClientResponse> Http2Client::next_response() { return session_->next_response(); }
std::string_view Http2Client::partial_body(std::int32_t stream) const { return session_->partial_body(stream); }
bool Http2Client::goaway_received() const noexcept { return session_->goaway_received(); }
std::string_view Http2Client::output() { return session_->output(); }
void Http2Client::written(std::size_t size) { session_->written(size); }

}  // namespace penstock::transport
