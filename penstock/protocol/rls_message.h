#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "penstock/base/error.h"
#include "penstock/limiter/verdict.h"
#include "penstock/protocol/check_batch.h"

namespace penstock::protocol {

// The messages of envoy.service.ratelimit.v3 as bytes, to and from our own structs, without message objects between:
// those would have to own every text, and to be kept for every request of a batch. Here a check borrows its texts from
// the request's bytes, and a verdict is written in one pass. Tests and a fuzzer hold both against libprotobuf.
//
// Cost: no allocation after warm-up, time linear in the message.

// Reads a RateLimitRequest into a check that `batch` leaves open; its texts stay in `message`. As libprotobuf has it:
// unknown fields are skipped, a repeated scalar's last value holds, repeated messages merge.
// Errors: internal for bytes that are no such message, a string that is no UTF-8 included; invalid_argument beyond the
// maxima of CheckBatch. The check is abandoned then.
[[nodiscard]] Result<void> decode_request(std::string_view message, CheckBatch& batch);

// Appends the verdict as a RateLimitResponse. Requires: the verdict has no error.
void encode_response(const limiter::Verdict& verdict, std::string& out);

}  // namespace penstock::protocol
