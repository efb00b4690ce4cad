#include "penstock/base/error.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace penstock {

std::string_view to_string(ErrorCode code) noexcept {
  static constexpr std::array<std::string_view, 17> kNames = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  return kNames[static_cast<std::size_t>(code)];
}

std::string to_string(const Place& place) {
  if (place.line == 0) return place.file;
  if (place.column == 0) return fmt::format("{}:{}", place.file, place.line);
  return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

std::string to_string(const Error& error) {
  if (!error.place) return error.message;
  return fmt::format("{}: {}", to_string(*error.place), error.message);
}

}  // namespace penstock
