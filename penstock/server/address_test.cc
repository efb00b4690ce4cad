#include "penstock/server/address.h"

#include <gtest/gtest.h>

namespace penstock::server {
namespace {

TEST(Address, TakesNamesBothKindsOfIpAndAllAddresses) {
  EXPECT_EQ(parse_address("127.0.0.1:8081"), (Address{"127.0.0.1", 8081}));
  EXPECT_EQ(parse_address("[::1]:0"), (Address{"::1", 0}));
  EXPECT_EQ(parse_address("localhost:65535"), (Address{"localhost", 65535}));
  EXPECT_EQ(parse_address(":8080"), (Address{"0.0.0.0", 8080}));
}

TEST(Address, RefusesWhatIsNoneAndSaysWhatWouldBe) {
  for (const char* text : {"", "8081", "localhost", "localhost:", "localhost:65536", "localhost:-1", "localhost:80x",
                           "::1:80", "[::1]", "[]:80", "[::1:80"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(address.error().message.find("HOST:PORT"), std::string::npos);
  }
}

TEST(Address, IsWrittenAsItIsRead) {
  EXPECT_EQ(to_string(Address{"::1", 80}), "[::1]:80");
  EXPECT_EQ(to_string(Address{"127.0.0.1", 80}), "127.0.0.1:80");
}

TEST(Address, IsLoopbackWhereOnlyThisMachineReachesIt) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "localhost"}) {
    EXPECT_TRUE(is_loopback({.host = host, .port = 1})) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "128.0.0.1", "example", "127.0.0.1.nip"}) {
    EXPECT_FALSE(is_loopback({.host = host, .port = 1})) << host;
  }
}

}  // namespace
}  // namespace penstock::server
