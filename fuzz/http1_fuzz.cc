// Any bytes as what a client of HTTP/1 sends, read whole and in pieces: both must show the same requests, as far as
// neither was refused (a limit on what is not complete yet depends on the pieces). The first byte is their size.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/check.h"
#include "penstock/transport/http1_server.h"

namespace {

using namespace penstock;
using namespace penstock::transport;

constexpr Http1Options kOptions{.max_body_bytes = 256, .max_header_bytes = 256, .max_unsent_bytes = 1 << 20};

struct Conversation {
  std::vector<std::string> requests;
  bool refused = false;
};

// Answers in the reverse order of a turn, so that replies wait for theirs.
void answer_all(Http1Server& server, Conversation& conversation) {
  const std::vector<Request> requests{server.requests().begin(), server.requests().end()};
  for (const Request& request : requests) {
    PENSTOCK_CHECK(request.body.size() <= kOptions.max_body_bytes);
    conversation.requests.push_back(
        std::string{request.method}.append(" ").append(request.path).append(" ").append(request.body));
  }
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    server.respond(request->stream, {.body = request->body});
  }
}

Conversation converse(std::string_view bytes, std::size_t piece) {
  ByteBudget budget{std::size_t{1} << 20};
  Http1Options options = kOptions;
  options.held = &budget;
  Http1Server server{options};
  Conversation conversation;
  const auto turn = [&](std::string_view part) {
    conversation.refused = !server.receive(part, kStateEpoch);
    answer_all(server, conversation);
    server.written(server.output().size());
    PENSTOCK_CHECK(server.open_streams() == 0);
    PENSTOCK_CHECK(server.expire(kStateEpoch, {}));  // no time has passed
  };
  while (!bytes.empty() && !conversation.refused) {
    const std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    turn(part);
    while (server.paused() && !conversation.refused) turn("");
  }
  return conversation;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  const Conversation whole = converse(bytes, SIZE_MAX);
  const Conversation pieces = converse(bytes, data[0] + std::size_t{1});
  const std::size_t common = std::min(whole.requests.size(), pieces.requests.size());
  PENSTOCK_CHECK(std::equal(whole.requests.begin(), whole.requests.begin() + static_cast<std::ptrdiff_t>(common),
                            pieces.requests.begin()));
  PENSTOCK_CHECK(whole.refused || pieces.refused || whole.requests.size() == pieces.requests.size());
  return 0;
}
