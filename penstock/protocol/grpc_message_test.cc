#include "penstock/protocol/grpc_message.h"

#include <gtest/gtest.h>

namespace penstock::protocol {
namespace {

TEST(GrpcMessage, HasAPrefixWithItsLength) {
  EXPECT_EQ(framed("abc"), (std::string_view{"\0\0\0\0\3abc", 8}));
  EXPECT_EQ(framed(std::string(0x010203, 'x')).substr(0, 5), (std::string_view{"\0\0\1\2\3", 5}));
}

TEST(GrpcMessage, ComesOutAsItWentIn) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300}, kMaxMessageBytes}) {
    const std::string message(size, 'x');
    const std::string body = framed(message);
    const Frame frame = only_message(body, "");
    EXPECT_EQ(frame.fault, FrameFault::none) << size;
    EXPECT_EQ(frame.message, message);
    EXPECT_EQ(frame.size, body.size());
  }
}

TEST(GrpcMessage, IsTakenFromTheFrontOfAStream) {
  const std::string body = framed("one") + framed("two");
  const Frame frame = first_message(body, "");
  EXPECT_EQ(frame.message, "one");
  EXPECT_EQ(first_message(std::string_view{body}.substr(frame.size), "").message, "two");
}

TEST(GrpcMessage, NeedsMoreUntilItIsWhole) {
  const std::string body = framed("message");
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_EQ(first_message(body.substr(0, size), "").fault, FrameFault::incomplete) << size;
    EXPECT_EQ(only_message(body.substr(0, size), "").fault, FrameFault::malformed) << size;
  }
}

TEST(GrpcMessage, EveryFaultHasItsStatusAndSaysTheSizes) {
  const struct {
    std::string body;
    std::string_view encoding;
    ErrorCode code;
    std::string_view text;
  } cases[] = {
      {"", "", ErrorCode::internal, "ends after 0 bytes"},
      {framed("abc") + "x", "", ErrorCode::internal, "4 bytes after the prefix of a message of 3"},
      {framed("abc").substr(0, 7), "", ErrorCode::internal, "2 bytes after the prefix of a message of 3"},
      {{"\2\0\0\0\0", 5}, "", ErrorCode::internal, "prefix is 2"},
      {{"\1\0\0\0\0", 5}, "", ErrorCode::internal, "grpc-encoding names no coding"},
      {{"\1\0\0\0\0", 5}, "identity", ErrorCode::internal, "grpc-encoding names no coding"},
      {{"\1\0\0\0\0", 5}, "gzip", ErrorCode::unimplemented, "compressed with gzip"},
      {{"\0\0\x40\0\1", 5}, "", ErrorCode::resource_exhausted, "has 4194305 bytes; at most 4194304"},
  };
  for (const auto& each : cases) {
    const Frame frame = only_message(each.body, each.encoding);
    ASSERT_NE(frame.fault, FrameFault::none) << each.text;
    const Error error = describe(frame.fault, each.body, each.encoding);
    EXPECT_EQ(error.code, each.code) << each.text;
    EXPECT_TRUE(error.message.contains(each.text)) << error.message;
  }
}

TEST(GrpcMessage, MayBeUncompressedWhateverTheCodingIs) {
  EXPECT_EQ(only_message(framed("abc"), "gzip").fault, FrameFault::none);
}

}  // namespace
}  // namespace penstock::protocol
