#include "penstock/protocol/waiting_replies.h"

#include <gtest/gtest.h>

namespace penstock::protocol {
namespace {

struct Peer {};

TEST(WaitingReplies, GivesEachTicketItsPlace) {
  WaitingReplies<Peer> replies{10};
  Peer one, two;
  const auto first = replies.add({.connection = &one, .stream = 1});
  const auto second = replies.add({.connection = &two, .stream = 3, .expired = true});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies.take(*second).connection, &two);
  EXPECT_EQ(replies.take(*first).stream, 1);
  EXPECT_EQ(replies.size(), 0U);
}

TEST(WaitingReplies, NeverGivesATicketTwice) {
  WaitingReplies<Peer> replies{1};
  Peer peer;
  const auto first = replies.add({.connection = &peer, .stream = 1});
  (void)replies.take(*first);
  const auto second = replies.add({.connection = &peer, .stream = 1});
  EXPECT_NE(*first, *second);
  EXPECT_DEATH((void)replies.take(*first), "uses");
}

TEST(WaitingReplies, AreBounded) {
  WaitingReplies<Peer> replies{2};
  Peer peer;
  const auto first = replies.add({.connection = &peer, .stream = 1});
  EXPECT_TRUE(replies.add({.connection = &peer, .stream = 3}));
  EXPECT_FALSE(replies.add({.connection = &peer, .stream = 5}));
  (void)replies.take(*first);
  EXPECT_TRUE(replies.add({.connection = &peer, .stream = 7}));
}

TEST(WaitingReplies, ForgetAConnectionAndKeepItsTickets) {
  WaitingReplies<Peer> replies{10};
  Peer leaves, stays;
  const auto first = replies.add({.connection = &leaves, .stream = 1});
  const auto second = replies.add({.connection = &stays, .stream = 1});
  replies.forget(leaves);
  EXPECT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies.take(*first).connection, nullptr);
  EXPECT_EQ(replies.take(*second).connection, &stays);
}

}  // namespace
}  // namespace penstock::protocol
