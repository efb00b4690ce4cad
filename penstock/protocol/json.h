#pragma once

#include <string>
#include <string_view>

#include "penstock/base/error.h"
#include "penstock/limiter/verdict.h"
#include "penstock/protocol/check_batch.h"
#include "penstock/protocol/reply_extras.h"

namespace penstock::protocol {

// The messages of envoy.service.ratelimit.v3 as protobuf's JSON (protobuf.dev/programming-guides/json).

// Reads a RateLimitRequest into a check that `batch` leaves open; unescaped texts are appended to `texts`. Strict:
//   - names in camelCase or snake_case; an unknown field, or one that stands twice, is an error
//   - numbers as number or string, 1.0 and 1e0 included; the unit by exact name or by number
//   - null for a field is the same as leaving it out; in a list it is an error
//   - one object, nothing after it, valid UTF-8, no lone surrogate, no byte order mark
// Errors: invalid_argument, the message names the place; the check is abandoned then.
// Requires: room for `text.size()` more bytes in `texts`, which must not move while the check is in use.
[[nodiscard]] Result<void> decode_json(std::string_view text, std::string& texts, CheckBatch& batch);

// Appends the verdict as a RateLimitResponse: camelCase, enums by name, zero values left out. Requires: no error in it.
void encode_json(const limiter::Verdict& verdict, const ReplyExtras& extras, std::string& out);

}  // namespace penstock::protocol
