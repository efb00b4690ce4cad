// Any bytes as a RateLimitRequest: our decoder and libprotobuf's must take the same ones and read the same from them.

#include <cstddef>
#include <cstdint>

#include <google/protobuf/stubs/logging.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/base/check.h"
#include "penstock/protocol/rls_message.h"

namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using penstock::protocol::CheckBatch;

void compare(const penstock::limiter::Descriptor& ours,
             const envoy::extensions::common::ratelimit::v3::RateLimitDescriptor& theirs) {
  PENSTOCK_CHECK(ours.entries.size() == static_cast<std::size_t>(theirs.entries_size()));
  for (int i = 0; i < theirs.entries_size(); ++i) {
    const auto& entry = ours.entries[static_cast<std::size_t>(i)];
    PENSTOCK_CHECK(entry.key == theirs.entries(i).key() && entry.value == theirs.entries(i).value());
  }
  PENSTOCK_CHECK(ours.limit.has_value() == theirs.has_limit());
  if (ours.limit) {
    PENSTOCK_CHECK(ours.limit->requests_per_unit == theirs.limit().requests_per_unit());
    PENSTOCK_CHECK(ours.limit->unit == static_cast<std::int32_t>(theirs.limit().unit()));
  }
  PENSTOCK_CHECK(ours.hits.has_value() == theirs.has_hits_addend());
  if (ours.hits) PENSTOCK_CHECK(*ours.hits == theirs.hits_addend().value());
  PENSTOCK_CHECK(ours.negative_hits == theirs.is_negative_hits());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const google::protobuf::LogSilencer quiet;
  CheckBatch batch;
  const auto decoded = penstock::protocol::decode_request({reinterpret_cast<const char*>(data), size}, batch);
  if (!decoded && decoded.error().code == penstock::ErrorCode::invalid_argument) return 0;  // beyond our maxima
  RateLimitRequest theirs;
  PENSTOCK_CHECK(decoded.has_value() == theirs.ParseFromArray(data, static_cast<int>(size)));
  if (!decoded) return 0;
  batch.commit(0, penstock::Instant::max());
  const penstock::limiter::Check& ours = batch.checks()[0];
  PENSTOCK_CHECK(ours.domain == theirs.domain() && ours.hits_addend == theirs.hits_addend());
  PENSTOCK_CHECK(ours.descriptors.size() == static_cast<std::size_t>(theirs.descriptors_size()));
  for (int i = 0; i < theirs.descriptors_size(); ++i) {
    compare(ours.descriptors[static_cast<std::size_t>(i)], theirs.descriptors(i));
  }
  return 0;
}
