#include "penstock/protocol/health.h"

#include <algorithm>

#include <fmt/format.h>

#include "grpc/health/v1/health.pb.h"
#include "penstock/protocol/proto_message.h"

namespace penstock::protocol {
namespace {

namespace wire = grpc::health::v1;

wire::HealthCheckResponse::ServingStatus to_wire(ServingStatus status) {
  return static_cast<wire::HealthCheckResponse::ServingStatus>(status);
}

}  // namespace

ServingStatus Health::status_of(std::string_view service) const noexcept {
  if (std::ranges::find(kServices, service) == kServices.end()) return ServingStatus::service_unknown;
  return serving_ ? ServingStatus::serving : ServingStatus::not_serving;
}

Result<void> Health::check(std::string_view request, std::string& reply) const {
  const Result<std::string> service = watched_service(request);
  if (!service) return std::unexpected{service.error()};
  const ServingStatus status = status_of(*service);
  if (status == ServingStatus::service_unknown) {
    return fail(ErrorCode::not_found,
                fmt::format("unknown service \"{}\"; known are \"\" and \"ratelimit\"", service->substr(0, 200)));
  }
  append_status(status, reply);
  return {};
}

Result<void> Health::list(std::string_view request, std::string& reply) const {
  const auto message = parse_message<wire::HealthListRequest>(request);
  if (!message) return std::unexpected{message.error()};
  wire::HealthListResponse response;
  for (const std::string_view service : kServices) {
    (*response.mutable_statuses())[std::string{service}].set_status(to_wire(status_of(service)));
  }
  response.AppendToString(&reply);
  return {};
}

Result<std::string> Health::watched_service(std::string_view request) {
  auto message = parse_message<wire::HealthCheckRequest>(request);
  if (!message) return std::unexpected{std::move(message.error())};
  return message->service();
}

void Health::append_status(ServingStatus status, std::string& reply) {
  wire::HealthCheckResponse response;
  response.set_status(to_wire(status));
  response.AppendToString(&reply);
}

}  // namespace penstock::protocol
