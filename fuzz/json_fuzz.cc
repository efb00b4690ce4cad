// Any bytes as a JSON request: refused, or read into texts that lie within the room that was promised.

#include <cstddef>
#include <cstdint>
#include <string>

#include "penstock/base/check.h"
#include "penstock/protocol/json.h"

namespace {

void check_within(std::string_view text, const std::string& texts) {
  PENSTOCK_CHECK(text.empty() ||
                 (text.data() >= texts.data() && text.data() + text.size() <= texts.data() + texts.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string texts;
  texts.reserve(size);
  const char* const begin = texts.data();
  penstock::protocol::CheckBatch batch;
  const auto decoded = penstock::protocol::decode_json({reinterpret_cast<const char*>(data), size}, texts, batch);
  PENSTOCK_CHECK(texts.data() == begin && texts.size() <= size);
  if (!decoded) {
    PENSTOCK_CHECK(decoded.error().code == penstock::ErrorCode::invalid_argument && batch.checks().empty());
    return 0;
  }
  batch.commit(0, penstock::Instant::max());
  penstock::protocol::ReplyExtender extender{{.response_headers = penstock::protocol::HeaderNames{},
                                              .dynamic_metadata = true,
                                              .decider_header = true,
                                              .decider_metadata = true}};
  extender.note(batch.checks());
  std::string reply;
  append_extras(extender.extend(0, {}), reply);
  PENSTOCK_CHECK(!reply.empty());
  const penstock::limiter::Check& check = batch.checks()[0];
  check_within(check.domain, texts);
  for (const penstock::limiter::Descriptor& descriptor : check.descriptors) {
    for (const penstock::rules::Entry& entry : descriptor.entries) {
      check_within(entry.key, texts);
      check_within(entry.value, texts);
    }
  }
  return 0;
}
