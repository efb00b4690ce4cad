#include "penstock/server/admission.h"

#include <gtest/gtest.h>

#include "penstock/server/descriptor_limit.h"

namespace penstock::server {
namespace {

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'000);

Source source(const char* address) { return source_of(boost::asio::ip::make_address(address)); }

TEST(Source, IsAnAddressOrAnIpv6Network) {
  EXPECT_EQ(source("10.1.2.3"), source("::ffff:10.1.2.3"));
  EXPECT_NE(source("10.1.2.3"), source("10.1.2.4"));
  EXPECT_EQ(source("2001:db8:1:2::1"), source("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  EXPECT_NE(source("2001:db8:1:2::1"), source("2001:db8:1:3::1"));
  EXPECT_NE(source("0.0.0.1"), source("::1")) << "numbers alone do not tell";
}

TEST(Admission, CountsConnectionsOfEachSource) {
  Admission admission{{.connections = 100, .connections_per_source = 2}};
  EXPECT_TRUE(admission.enter(source("10.0.0.1"), {0, 0}, kNow));
  EXPECT_TRUE(admission.enter(source("10.0.0.1"), {1, 1}, kNow));
  EXPECT_FALSE(admission.enter(source("10.0.0.1"), {2, 2}, kNow));
  EXPECT_TRUE(admission.enter(source("10.0.0.2"), {2, 2}, kNow));
  admission.leave(source("10.0.0.1"));
  EXPECT_TRUE(admission.enter(source("10.0.0.1"), {2, 2}, kNow));
  EXPECT_EQ(admission.metrics().refused_for_address.value(), 1U);
  EXPECT_EQ(admission.metrics().refused_for_count.value(), 0U);
}

TEST(Admission, CountsAllConnections) {
  Admission admission{{.connections = 1000, .connections_per_source = 1000}};
  for (std::size_t open = 0; open < 1000; ++open) {
    ASSERT_TRUE(admission.enter(source("10.0.0.1"), {open, open / 2}, kNow)) << open;
  }
  EXPECT_FALSE(admission.enter(source("10.0.0.2"), {1000, 500}, kNow));
  EXPECT_EQ(admission.metrics().refused_for_count.value(), 1U);
}

TEST(Admission, GivesOneAddressHalfOfThePlacesUnlessTold) {
  Admission admission{{.connections = 1001, .connections_per_source = 0}};
  std::size_t open = 0;
  while (open < 1001 && admission.enter(source("10.0.0.1"), {open, open / 2}, kNow)) ++open;
  EXPECT_EQ(open, 501U);
  EXPECT_TRUE(admission.enter(source("10.0.0.2"), {open, open / 2}, kNow));
}

TEST(Admission, LeavesAQuarterOfThePlacesToTheOtherPort) {
  Admission admission{{.connections = 1000, .connections_per_source = 1000}};
  std::size_t open = 0;
  while (open < 1000 && admission.enter(source("10.0.0.1"), {open, open}, kNow)) ++open;
  EXPECT_EQ(open, 750U);
  EXPECT_EQ(admission.metrics().refused_for_port.value(), 1U);
  EXPECT_TRUE(admission.enter(source("10.0.0.1"), {open, 0}, kNow));
  EXPECT_EQ(Admission::most_on_one_port(1), 1U);
}

TEST(DescriptorLimit, LeavesRoomForWhatIsNoConnection) {
  EXPECT_EQ(connections_within(1024, 2), 1024U - 64 - 3 * 3);
  EXPECT_EQ(connections_within(10, 2), 1U);
  EXPECT_GT(connections_within(UINT64_MAX, 1), 1'000'000'000'000U);
}

TEST(DescriptorLimit, IsRaisedOnceAndForAll) { EXPECT_EQ(raise_descriptor_limit(), raise_descriptor_limit()); }

}  // namespace
}  // namespace penstock::server
