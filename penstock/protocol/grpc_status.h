#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/error.h"
#include "penstock/base/instant.h"

namespace penstock::protocol {

// The rules of gRPC over HTTP/2 for headers and trailers (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).

// The status code's number, as trailers have it.
[[nodiscard]] std::string_view status_number(ErrorCode code) noexcept;

// Longest message of a status; what is longer is cut, so that trailers stay far from any peer's header limit.
inline constexpr std::size_t kMaxStatusText = 1024;

// A grpc-message: bytes outside of ' '..'~', and '%', become %XX. Appends at most 3 * kMaxStatusText bytes.
void append_percent_encoded(std::string_view text, std::string& out);

// The text of a grpc-message; a '%' that begins no %XX stands for itself.
[[nodiscard]] std::string percent_decoded(std::string_view text);

// A grpc-timeout: one to eight digits and a unit of H M S m u n. Nothing for any other text.
[[nodiscard]] std::optional<Nanoseconds> parse_timeout(std::string_view text) noexcept;

// application/grpc or application/grpc+proto in any case, with or without parameters.
[[nodiscard]] bool is_grpc_content_type(std::string_view content_type) noexcept;

// The deadline that a store is given for a caller that waits until `began + timeout`: earlier by 2 ms or a quarter of
// the timeout, whichever is less, so that the answer still reaches the caller.
[[nodiscard]] Instant store_deadline(Instant began, Nanoseconds timeout) noexcept;

// The most time that a store gets, also for callers that would wait longer or do not say: nobody waits without a bound.
inline constexpr Nanoseconds kMaxStoreTime = std::chrono::seconds{1};

}  // namespace penstock::protocol
