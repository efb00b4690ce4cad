#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// The canonical gRPC status codes, by number (grpc.github.io/grpc/core/md_doc_statuscodes.html), so that an error
// maps to the wire without a table.
enum class ErrorCode : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

// The code's name as gRPC writes it, for example "INVALID_ARGUMENT".
[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

// A place in a text file; line and column count from 1, 0 where there is none (a whole file).
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

// "file:line:column", leaving out what is not known.
[[nodiscard]] std::string to_string(const Place& place);

// An expected failure: wrong input, a store that is away. The message names the value that is wrong and what would be
// accepted. Threading: Value.
struct Error {
  ErrorCode code = ErrorCode::unknown;
  std::string message;
  std::optional<Place> place;
};

// "file:line:column: message", or the message alone.
[[nodiscard]] std::string to_string(const Error& error);

template <class T>
using Result = std::expected<T, Error>;

// For work that finds all mistakes at once: a list that is never empty.
template <class T>
using ResultOrAll = std::expected<T, std::vector<Error>>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>{Error{.code = code, .message = std::move(message), .place = std::nullopt}};
}

}  // namespace penstock
