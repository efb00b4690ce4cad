#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/error.h"

namespace penstock::protocol {

// The numbers are those of HealthCheckResponse.ServingStatus.
enum class ServingStatus : std::uint8_t { unknown = 0, serving = 1, not_serving = 2, service_unknown = 3 };

// The service table of grpc.health.v1 (github.com/grpc/grpc/blob/master/doc/health-checking.md): the services "" and
// "ratelimit" both mirror one flag, so that every probe sees a drain, whichever name it asks for. (In
// envoyproxy/ratelimit the empty name serves for ever.)
//
// Messages go in and out as bytes, without the gRPC prefix. Threading: Loop-owned.
class Health {
 public:
  static constexpr std::array<std::string_view, 2> kServices{"", "ratelimit"};

  [[nodiscard]] bool serving() const noexcept { return serving_; }
  void set_serving(bool serving) noexcept { serving_ = serving; }

  // service_unknown for a name that is not in the table.
  [[nodiscard]] ServingStatus status_of(std::string_view service) const noexcept;

  // Check: appends the response. Errors: not_found for an unknown service, internal for bytes that are no message.
  [[nodiscard]] Result<void> check(std::string_view request, std::string& reply) const;

  // List: appends the response, every service with its status. Errors: internal for bytes that are no message.
  [[nodiscard]] Result<void> list(std::string_view request, std::string& reply) const;

  // The service that a Watch asks for. Errors: internal for bytes that are no message.
  [[nodiscard]] static Result<std::string> watched_service(std::string_view request);

  // Appends the response of Check and Watch that says `status`.
  static void append_status(ServingStatus status, std::string& reply);

 private:
  bool serving_ = false;  // until the server says so
};

}  // namespace penstock::protocol
