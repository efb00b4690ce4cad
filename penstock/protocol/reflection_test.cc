#include "penstock/protocol/reflection.h"

#include <set>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "grpc/reflection/v1/reflection.pb.h"

namespace penstock::protocol {
namespace {

namespace wire = grpc::reflection::v1;

wire::ServerReflectionResponse ask(const wire::ServerReflectionRequest& request) {
  Reflection reflection;
  std::string reply;
  EXPECT_TRUE(reflection.answer(request.SerializeAsString(), reply));
  wire::ServerReflectionResponse response;
  EXPECT_TRUE(response.ParseFromString(reply));
  EXPECT_EQ(response.original_request().SerializeAsString(), request.SerializeAsString());
  return response;
}

wire::ServerReflectionResponse ask_symbol(const std::string& symbol) {
  wire::ServerReflectionRequest request;
  request.set_host("limits.example");
  request.set_file_containing_symbol(symbol);
  return ask(request);
}

TEST(Reflection, ListsTheServices) {
  wire::ServerReflectionRequest request;
  request.set_list_services("*");
  std::set<std::string> names;
  const auto response = ask(request);
  for (const auto& service : response.list_services_response().service()) names.insert(service.name());
  EXPECT_EQ(names,
            (std::set<std::string>{"envoy.service.ratelimit.v3.RateLimitService", "grpc.health.v1.Health",
                                   "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"}));
}

TEST(Reflection, GivesAClientAllThatItNeedsForACall) {
  const auto response = ask_symbol("envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit");
  EXPECT_EQ(response.valid_host(), "limits.example");
  const auto& files = response.file_descriptor_response().file_descriptor_proto();
  ASSERT_GT(files.size(), 1);
  google::protobuf::DescriptorPool client;
  for (int i = files.size() - 1; i >= 0; --i) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(files.Get(i)));
    ASSERT_NE(client.BuildFile(file), nullptr) << file.name();
  }
  google::protobuf::FileDescriptorProto first;
  ASSERT_TRUE(first.ParseFromString(files.Get(0)));
  EXPECT_EQ(first.name(), "envoy/service/ratelimit/v3/rls.proto") << "what was asked for comes first";
  const auto* method = client.FindMethodByName("envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit");
  ASSERT_NE(method, nullptr);
  EXPECT_EQ(method->output_type()->FindFieldByName("statuses")->number(), 2);
  const auto* descriptor = client.FindMessageTypeByName("envoy.extensions.common.ratelimit.v3.RateLimitDescriptor");
  ASSERT_NE(descriptor, nullptr);
  EXPECT_EQ(descriptor->FindFieldByName("is_negative_hits")->number(), 4);
}

TEST(Reflection, FindsFilesByName) {
  for (const char* name : {"grpc/health/v1/health.proto", "google/protobuf/duration.proto"}) {
    wire::ServerReflectionRequest request;
    request.set_file_by_filename(name);
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(ask(request).file_descriptor_response().file_descriptor_proto(0)));
    EXPECT_EQ(file.name(), name);
  }
}

TEST(Reflection, WhatIsNotThereIsNotFound) {
  constexpr int kNotFound = 5;
  EXPECT_EQ(ask_symbol("no.such.Symbol").error_response().error_code(), kNotFound);
  EXPECT_EQ(ask_symbol("").error_response().error_code(), kNotFound);
  wire::ServerReflectionRequest file;
  file.set_file_by_filename("no/such.proto");
  EXPECT_EQ(ask(file).error_response().error_code(), kNotFound);
  wire::ServerReflectionRequest extension;
  extension.mutable_file_containing_extension()->set_containing_type("grpc.health.v1.HealthCheckRequest");
  extension.mutable_file_containing_extension()->set_extension_number(100);
  EXPECT_EQ(ask(extension).error_response().error_code(), kNotFound);
  wire::ServerReflectionRequest numbers;
  numbers.set_all_extension_numbers_of_type("no.such.Type");
  EXPECT_EQ(ask(numbers).error_response().error_code(), kNotFound);
}

TEST(Reflection, AMessageOfOursHasNoExtensions) {
  wire::ServerReflectionRequest request;
  request.set_all_extension_numbers_of_type("grpc.health.v1.HealthCheckRequest");
  const auto response = ask(request).all_extension_numbers_response();
  EXPECT_EQ(response.base_type_name(), "grpc.health.v1.HealthCheckRequest");
  EXPECT_EQ(response.extension_number_size(), 0);
}

TEST(Reflection, AnEmptyQuestionIsRefusedAndGarbageIsInternal) {
  EXPECT_EQ(ask({}).error_response().error_code(), static_cast<int>(ErrorCode::invalid_argument));
  Reflection reflection;
  std::string reply;
  EXPECT_EQ(reflection.answer("\x0a\x05", reply).error().code, ErrorCode::internal);
}

}  // namespace
}  // namespace penstock::protocol
