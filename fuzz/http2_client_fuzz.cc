// Any bytes as what a server sends to `penstock ask`. The first byte says how they are cut.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "penstock/base/check.h"
#include "penstock/transport/http2_client.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock::transport;
  if (size < 1) return 0;
  Http2Client client;
  client.post("edge", "/service/Method", {}, "body");
  std::string_view rest{reinterpret_cast<const char*>(data) + 1, size - 1};
  std::size_t responses = 0;
  bool reads = true;
  while (!rest.empty() && reads) {
    const std::string_view part = rest.substr(0, data[0] == 0 ? rest.size() : data[0]);
    rest.remove_prefix(part.size());
    reads = client.receive(part);
    while (client.next_response()) ++responses;
    client.written(client.output().size());
  }
  PENSTOCK_CHECK(responses <= 1);
  return 0;
}
