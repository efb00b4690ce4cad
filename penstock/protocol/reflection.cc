#include "penstock/protocol/reflection.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "penstock/base/check.h"
#include "penstock/protocol/proto_message.h"

namespace penstock::protocol {
namespace {

namespace wire = grpc::reflection::v1;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

using Files = std::vector<const FileDescriptor*>;

// Imports first, each file once.
void gather(const FileDescriptor* file, Files& files) {
  if (std::ranges::find(files, file) != files.end()) return;
  for (int i = 0; i < file->dependency_count(); ++i) gather(file->dependency(i), files);
  files.push_back(file);
}

void not_found(std::string_view what, std::string_view name, wire::ServerReflectionResponse& response) {
  constexpr std::size_t kShown = 200;
  wire::ErrorResponse& error = *response.mutable_error_response();
  error.set_error_code(static_cast<int>(ErrorCode::not_found));
  error.set_error_message(fmt::format("no {} named {}", what, name.substr(0, kShown)));
}

void put_file(const FileDescriptor* file, wire::ServerReflectionResponse& response) {
  Files files;
  gather(file, files);
  std::ranges::reverse(files);  // what was asked for comes first
  for (const FileDescriptor* each : files) {
    google::protobuf::FileDescriptorProto proto;
    each->CopyTo(&proto);
    each->CopyJsonNameTo(&proto);  // without them grpcurl shows, and takes, no lowerCamelCase
    proto.AppendToString(response.mutable_file_descriptor_response()->add_file_descriptor_proto());
  }
}

}  // namespace

class Reflection::Pool {
 public:
  Pool() {
    const std::array served{envoy::service::ratelimit::v3::RateLimitRequest::descriptor()->file(),
                            grpc::health::v1::HealthCheckRequest::descriptor()->file(),
                            wire::ServerReflectionRequest::descriptor()->file(),
                            grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file()};
    Files files;
    for (const FileDescriptor* file : served) gather(file, files);
    for (const FileDescriptor* file : files) {
      google::protobuf::FileDescriptorProto proto;
      file->CopyTo(&proto);
      PENSTOCK_CHECK(pool_.BuildFile(proto) != nullptr);
    }
    for (const FileDescriptor* file : served) {
      for (int i = 0; i < file->service_count(); ++i) services_.push_back(file->service(i)->full_name());
    }
  }

  void answer(const wire::ServerReflectionRequest& request, wire::ServerReflectionResponse& response) const {
    switch (request.message_request_case()) {
      case wire::ServerReflectionRequest::kFileByFilename: {
        const std::string& name = request.file_by_filename();
        return file(pool_.FindFileByName(name), "file", name, response);
      }
      case wire::ServerReflectionRequest::kFileContainingSymbol: {
        const std::string& name = request.file_containing_symbol();
        return file(pool_.FindFileContainingSymbol(name), "symbol", name, response);
      }
      case wire::ServerReflectionRequest::kFileContainingExtension:
        return extension(request.file_containing_extension(), response);
      case wire::ServerReflectionRequest::kAllExtensionNumbersOfType:
        return extension_numbers(request.all_extension_numbers_of_type(), response);
      case wire::ServerReflectionRequest::kListServices: {
        wire::ListServiceResponse& list = *response.mutable_list_services_response();
        for (const std::string& name : services_) list.add_service()->set_name(name);
        return;
      }
      case wire::ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET: break;
    }
    wire::ErrorResponse& error = *response.mutable_error_response();
    error.set_error_code(static_cast<int>(ErrorCode::invalid_argument));
    error.set_error_message("the request asks nothing that is known here");
  }

 private:
  static void file(const FileDescriptor* found, std::string_view what, std::string_view name,
                   wire::ServerReflectionResponse& response) {
    if (found == nullptr) return not_found(what, name, response);
    put_file(found, response);
  }

  void extension(const wire::ExtensionRequest& request, wire::ServerReflectionResponse& response) const {
    const Descriptor* type = pool_.FindMessageTypeByName(request.containing_type());
    const FieldDescriptor* found =
        type == nullptr ? nullptr : pool_.FindExtensionByNumber(type, request.extension_number());
    const std::string name = fmt::format("{} of {}", request.extension_number(), request.containing_type());
    file(found == nullptr ? nullptr : found->file(), "extension", name, response);
  }

  void extension_numbers(const std::string& name, wire::ServerReflectionResponse& response) const {
    const Descriptor* type = pool_.FindMessageTypeByName(name);
    if (type == nullptr) return not_found("message", name, response);
    wire::ExtensionNumberResponse& numbers = *response.mutable_all_extension_numbers_response();
    numbers.set_base_type_name(name);
    std::vector<const FieldDescriptor*> extensions;
    pool_.FindAllExtensions(type, &extensions);
    for (const FieldDescriptor* each : extensions) numbers.add_extension_number(each->number());
  }

  google::protobuf::DescriptorPool pool_;
  std::vector<std::string> services_;
};

Reflection::Reflection() = default;
Reflection::~Reflection() = default;

Result<void> Reflection::answer(std::string_view request, std::string& reply) {
  auto question = parse_message<wire::ServerReflectionRequest>(request);
  if (!question) return std::unexpected{std::move(question.error())};
  if (pool_ == nullptr) pool_ = std::make_unique<Pool>();
  wire::ServerReflectionResponse response;
  response.set_valid_host(question->host());
  pool_->answer(*question, response);
  *response.mutable_original_request() = std::move(*question);
  response.AppendToString(&reply);
  return {};
}

}  // namespace penstock::protocol
