#include "penstock/server/store_url.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::server {
namespace {

using store::redis::Topology;
using ::testing::HasSubstr;
using ::testing::Not;

StoreUrl parsed(const std::string& text) {
  const auto url = parse_store_url(text);
  EXPECT_TRUE(url.has_value()) << text << ": " << (url ? "" : url.error().message);
  return url.value_or(StoreUrl{.endpoints = {{}}});
}

TEST(StoreUrl, NamesOneServerWithPortAndDatabaseToSpare) {
  const StoreUrl plain = parsed("redis://cache");
  EXPECT_EQ(plain.topology, Topology::single);
  EXPECT_EQ(plain.endpoints.front().host, "cache");
  EXPECT_EQ(plain.endpoints.front().port, 6379);
  EXPECT_EQ(plain.database, 0);
  const StoreUrl full = parsed("rediss://u:p%40ss:word@[::1]:7000/3");
  EXPECT_TRUE(full.endpoints.front().tls);
  EXPECT_EQ(full.endpoints.front().host, "::1");
  EXPECT_EQ(full.endpoints.front().port, 7000);
  EXPECT_EQ(full.credentials.user, "u");
  EXPECT_EQ(full.credentials.password, "p@ss:word");
  EXPECT_EQ(full.database, 3);
  EXPECT_EQ(parsed("redis://secret@h").credentials.password, "secret") << "without a user";
}

TEST(StoreUrl, NamesSocketsSentinelsClustersAndSeveralServers) {
  const StoreUrl socket = parsed("unix:///run/redis.sock?db=2");
  EXPECT_TRUE(socket.endpoints.front().is_unix());
  EXPECT_EQ(socket.endpoints.front().host, "/run/redis.sock");
  EXPECT_EQ(socket.database, 2);
  const StoreUrl sentinel = parsed("redis+sentinel://a,b:1/mymaster/4");
  EXPECT_EQ(sentinel.topology, Topology::sentinel);
  EXPECT_EQ(sentinel.endpoints.at(0).port, 26379);
  EXPECT_EQ(sentinel.endpoints.at(1).port, 1);
  EXPECT_EQ(sentinel.primary_name, "mymaster");
  EXPECT_EQ(sentinel.database, 4);
  EXPECT_EQ(parsed("rediss+cluster://a,b").topology, Topology::cluster);
  EXPECT_EQ(parsed("redis://a,b,c").topology, Topology::hashed);
}

TEST(StoreUrl, ShowsNoCredentials) {
  for (const char* text : {"redis://user:hidden@h:1/2", "redis+sentinel://:hidden@a,b/m", "unix://u:hidden@/s"}) {
    EXPECT_THAT(to_string(parsed(text)), Not(HasSubstr("hidden"))) << text;
  }
  EXPECT_EQ(to_string(parsed("rediss+cluster://u:p@a,b:7")), "rediss+cluster://a:6379,b:7");
  EXPECT_EQ(to_string(parsed("redis://h/5")), "redis://h:6379/5");
}

TEST(StoreUrl, SaysWhatIsWrongAndWhatIsAcceptedWithoutTheCredentials) {
  for (const char* text :
       {"", "localhost:6379", "http://h", "redis://", "redis://u:hidden@", "redis://h:0", "redis://h:x",
        "redis://h:", "redis://h/hidden", "redis://h/-1", "redis://a,,b", "redis://[::1", "unix://relative",
        "redis+sentinel://a", "redis+cluster://a/1", "redis://u:%zz@h"}) {
    const auto url = parse_store_url(text);
    ASSERT_FALSE(url.has_value()) << text;
    EXPECT_THAT(url.error().message, HasSubstr("accepted is redis://"));
    EXPECT_THAT(url.error().message, Not(HasSubstr("u:hidden"))) << text;
  }
}

}  // namespace
}  // namespace penstock::server
