#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/base/random.h"
#include "penstock/base/testing/allocation_count.h"
#include "penstock/protocol/rls_message.h"

namespace penstock::protocol {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;

RateLimitRequest full_request() {
  RateLimitRequest request;
  request.set_domain("public_api");
  request.set_hits_addend(3);
  for (int d = 0; d < 3; ++d) {
    auto& descriptor = *request.add_descriptors();
    for (int e = 0; e <= d; ++e) {
      auto& entry = *descriptor.add_entries();
      entry.set_key("a key that no short string holds, number " + std::to_string(e));
      entry.set_value(e == 1 ? "" : "w\xc3\xbcrde");
    }
    if (d == 0) continue;
    descriptor.mutable_hits_addend()->set_value(d == 1 ? 0 : 1'000'000'000'000);
    descriptor.mutable_limit()->set_requests_per_unit(4'000'000'000);
    descriptor.mutable_limit()->set_unit(static_cast<envoy::type::v3::RateLimitUnit>(d == 1 ? 7 : -1));
    descriptor.set_is_negative_hits(d == 2);
  }
  return request;
}

// What `check` would be as a generated message: the two decoders are then compared as messages.
RateLimitRequest as_message(const limiter::Check& check) {
  RateLimitRequest request;
  request.set_domain(std::string{check.domain});
  request.set_hits_addend(check.hits_addend);
  for (const limiter::Descriptor& each : check.descriptors) {
    auto& descriptor = *request.add_descriptors();
    for (const rules::Entry& entry : each.entries) {
      auto& added = *descriptor.add_entries();
      added.set_key(std::string{entry.key});
      added.set_value(std::string{entry.value});
    }
    if (each.hits) descriptor.mutable_hits_addend()->set_value(*each.hits);
    if (each.limit) {
      descriptor.mutable_limit()->set_requests_per_unit(each.limit->requests_per_unit);
      descriptor.mutable_limit()->set_unit(static_cast<envoy::type::v3::RateLimitUnit>(each.limit->unit));
    }
    descriptor.set_is_negative_hits(each.negative_hits);
  }
  return request;
}

// Both decoders take the bytes and see the same, or both refuse them.
void expect_agreement(const std::string& bytes) {
  const google::protobuf::LogSilencer quiet;
  RateLimitRequest theirs;
  const bool taken = theirs.ParseFromString(bytes);
  CheckBatch batch;
  const auto ours = decode_request(bytes, batch);
  ASSERT_EQ(ours.has_value(), taken) << (ours ? "" : ours.error().message) << "\n" << theirs.DebugString();
  if (!taken) {
    EXPECT_EQ(ours.error().code, ErrorCode::internal);
    return;
  }
  theirs.DiscardUnknownFields();
  batch.commit(0, Instant::max());
  EXPECT_EQ(as_message(batch.checks()[0]).SerializeAsString(), theirs.SerializeAsString());
}

TEST(RlsDecode, ReadsEveryField) {
  const std::string bytes = full_request().SerializeAsString();
  CheckBatch batch;
  ASSERT_TRUE(decode_request(bytes, batch));
  batch.commit(1, Instant::max());
  EXPECT_EQ(as_message(batch.checks()[0]).DebugString(), full_request().DebugString());
}

TEST(RlsDecode, TellsHitsOfZeroFromNone) {
  RateLimitRequest request;
  request.add_descriptors();
  request.add_descriptors()->mutable_hits_addend();
  const std::string bytes = request.SerializeAsString();
  CheckBatch batch;
  ASSERT_TRUE(decode_request(bytes, batch));
  batch.commit(1, Instant::max());
  const auto descriptors = batch.checks()[0].descriptors;
  EXPECT_EQ(descriptors[0].hits, std::nullopt);
  EXPECT_EQ(descriptors[1].hits, 0U);
}

TEST(RlsDecode, AgreesWithLibprotobufOnOddEncodings) {
  const std::string_view cases[] = {
      "",
      {"\x0a\x01\x61\x0a\x01\x62", 6},                       // a domain twice: the last holds
      {"\x12\x08\x12\x02\x08\x01\x12\x02\x10\x02", 10},      // an override in two halves: they merge
      {"\x12\x06\x1a\x02\x08\x05\x1a\x00", 8},               // hits twice, the second without a value
      {"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},  // hits of 64 bits are cut to 32
      {"\x12\x02\x20\x07", 4},                               // a bool of 7
      {"\x0d\x01\x02\x03\x04", 5},                           // domain as fixed32: unknown
      {"\x23\x08\x01\x24", 4},                               // an unknown group
      {"\x23\x08\x01", 3},                                   // and one without an end
      {"\x24", 1},                                           // and an end without a group
      {"\x00\x00", 2},                                       // field number 0
      {"\x0a\x05\x61", 3},                                   // a text cut short
      {"\x0a\xff\xff\xff\xff\x0f", 6},                       // a text of 4 GiB
      {"\x0a\x02\xc3\x28", 4},                               // not UTF-8
      {"\x0a\x03\xed\xa0\x80", 5},                           // a surrogate in UTF-8
      {"\x12\x05\x0a\x01", 4},                               // a message cut short
      {"\x12\x02\x0a\x05\x61\x61\x61\x61\x61", 9},           // an inner one longer than the outer
      {"\x12\x04\x0a\x02\x0a\x05", 6},
      {"\xf8\xf5\xed\xf5\xed\xda\xed\xda\x0a\x25", 10},          // a tag of nine bytes
      {"\x8a\x80\x80\x80\x00\x01\x61", 7},                       // one padded to five bytes
      {"\x8a\x80\x80\x80\x80\x00\x01\x61", 8},                   // and to six
      {"\x0a\x81\x80\x80\x80\x80\x00\x61", 8},                   // a length padded to six bytes
      {"\x23\x2b\x24\x2c", 4},                                   // groups that cross
      {"\x23\x2b\x0a\x01\x61\x2c\x24\x0a\x01\x62", 10},          // groups in each other, then a domain
      {"\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12},  // a number of eleven bytes
  };
  for (const std::string_view bytes : cases) {
    SCOPED_TRACE(::testing::PrintToString(bytes));
    expect_agreement(std::string{bytes});
  }
}

TEST(RlsDecode, AgreesWithLibprotobufOnDepth) {
  for (const std::size_t depth : {98U, 99U, 100U, 101U, 1000U}) {
    SCOPED_TRACE(depth);
    const std::string groups = std::string(depth, '\x2b') + std::string(depth, '\x2c');
    expect_agreement(groups);
    std::string inner = "\x12";
    for (std::size_t size = groups.size(); size > 0; size >>= 7) {
      inner += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
    }
    expect_agreement(inner + groups);
  }
}

TEST(RlsDecode, AgreesWithLibprotobufOnAnyBytes) {
  const std::uint64_t seed = 20'261'130;
  Random random{seed};
  const std::string whole = full_request().SerializeAsString();
  for (int round = 0; round < 50'000; ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", round " << round);
    std::string bytes = whole;
    for (std::uint64_t changes = random.below(4); changes > 0; --changes) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    if (random.below(4) == 0) bytes.resize(random.below(bytes.size()));
    if (random.below(4) == 0) bytes.insert(random.below(bytes.size() + 1), 1, static_cast<char>(random.below(256)));
    expect_agreement(bytes);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RlsDecode, NamesTheTextThatIsNoUtf8) {
  CheckBatch batch;
  const auto decoded = decode_request(std::string_view{"\x12\x05\x0a\x03\x12\x01\xff", 7}, batch);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::internal);
  EXPECT_EQ(decoded.error().message, "an entry's value is not valid UTF-8");
}

TEST(RlsDecode, RefusesTooManyDescriptorsClearly) {
  RateLimitRequest request;
  for (std::size_t i = 0; i <= CheckBatch::kMaxDescriptors; ++i) request.add_descriptors();
  CheckBatch batch;
  const auto decoded = decode_request(request.SerializeAsString(), batch);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(batch.checks().empty());
}

TEST(RlsDecode, AllocatesNothingOnceWarm) {
  const std::string bytes = full_request().SerializeAsString();
  CheckBatch batch;
  std::uint64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    before = allocation_count();
    batch.clear();
    for (std::uint64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(decode_request(bytes, batch));
      batch.commit(i, Instant::max());
    }
    ASSERT_EQ(batch.checks().size(), 100U);
  }
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace penstock::protocol
