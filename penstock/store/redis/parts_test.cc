// The small parts of this folder.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/redis/backoff.h"
#include "penstock/store/redis/breaker.h"
#include "penstock/store/redis/elapsed_clock.h"
#include "penstock/store/redis/keys.h"
#include "penstock/store/redis/resp.h"
#include "penstock/store/redis/scale.h"
#include "penstock/store/redis/script_call.h"

namespace penstock::store::redis {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Resp, CommandIsAListOfTextsOfAnyBytes) {
  std::string out;
  append_command(out, "INCRBY", std::string_view{"a\r\n\0b", 5}, Decimal{-12});
  EXPECT_EQ(out, std::string("*3\r\n$6\r\nINCRBY\r\n$5\r\na\r\n\0b\r\n$3\r\n-12\r\n", 36));
}

TEST(Resp, RepliesAreReadHoweverTheyAreCut) {
  const std::string bytes = "+OK\r\n:-7\r\n$-1\r\n$3\r\na\nb\r\n-MOVED 1 a:2\r\n*2\r\n:1\r\n*1\r\n$1\r\nx\r\n";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    ReplyReader reader;
    std::vector<std::unique_ptr<Reply>> replies;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(reader.feed(std::string_view{bytes}.substr(at, step)));
      while (auto reply = reader.next()) replies.push_back(std::move(reply));
    }
    ASSERT_EQ(replies.size(), 6u) << step;
    EXPECT_EQ(replies[0]->text, "OK");
    EXPECT_EQ(replies[1]->integer, -7);
    EXPECT_EQ(replies[2]->kind, Reply::Kind::nil);
    EXPECT_EQ(replies[3]->text, "a\nb");
    EXPECT_EQ(replies[4]->error_code(), "MOVED");
    EXPECT_EQ(replies[5]->elements.at(1)->elements.at(0)->text, "x");
  }
}

TEST(Resp, WhatIsNoReplyOrTooLargeIsRefused) {
  for (const std::string& bytes : {std::string{"hello\r\n"}, std::string{"*99999999\r\n"}, std::string{"$abc\r\n"}}) {
    ReplyReader reader;
    (void)reader.feed(bytes);
    EXPECT_EQ(reader.next(), nullptr) << bytes;
    EXPECT_TRUE(reader.broken()) << bytes;
    EXPECT_FALSE(reader.feed("+OK\r\n"));
  }
  ReplyReader reader;
  ASSERT_TRUE(reader.feed("$1000000000\r\n"));
  const std::string part(std::size_t{1} << 20, 'x');
  bool taken = true;
  for (int i = 0; taken && i < 8; ++i) {
    taken = reader.feed(part);
    EXPECT_EQ(reader.next(), nullptr);
  }
  EXPECT_FALSE(taken) << "what never ends is not kept for ever";
}

TEST(Keys, SlotsAreThoseOfTheSpecification) {
  EXPECT_EQ(slot_of("123456789"), 0x31C3);
  EXPECT_EQ(slot_of("somekey"), 11'058);
  EXPECT_EQ(slot_of("foo{hash_tag}"), 2'515);
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("{user1000}.followers"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar")) << "an empty tag is none";
}

TEST(Keys, CountersOfOneDescriptorShareASlotWhateverTheirBytes) {
  Random random{11};
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t family = random.next();
    std::string one, other;
    std::array<std::uint8_t, 16> identity{};
    for (std::uint8_t& byte : identity) byte = static_cast<std::uint8_t>(random.next());
    append_compact_key(one, family, identity);
    identity[3] = '}';
    append_compact_key(other, family, identity);
    EXPECT_EQ(slot_of(one), slot_of(other));
    EXPECT_EQ(one.size(), 26u);
  }
}

TEST(Scale, OrdinaryRatesAreExactInMicroseconds) {
  EXPECT_EQ(bucket_scale({.amount = 7, .window_seconds = 1, .burst = 7}),
            (BucketScale{.credits = 7, .price = 1'000'000, .room = 7'000'000, .tick_us = 1, .wait = 0}));
  EXPECT_EQ(bucket_scale({.amount = 100, .window_seconds = 60, .burst = 10}).tick_us, 1);
  EXPECT_EQ(sliding_scale(1'000, 3'600).tick_us, 1);
  EXPECT_EQ(sliding_scale(1'000, 3'600).parts, 3'600'000'000);
}

// No number passes 2^53, and no rate is above the one that was asked for.
TEST(Scale, EveryRateFitsAndNoneAdmitsMore) {
  Random random{12};
  const auto any = [&random](std::uint64_t most) { return 1 + (random.next() >> random.below(63)) % most; };
  for (int i = 0; i < 100'000; ++i) {
    const BucketRate rate = {.amount = static_cast<std::uint32_t>(any(0xffff'ffff)),
                             .window_seconds = static_cast<std::int64_t>(any(1'073'741'823)),
                             .burst = static_cast<std::uint32_t>(any(0xffff'ffff)),
                             .max_wait = random.below(4) == 0 ? Nanoseconds{hours{24}} : Nanoseconds{0}};
    const BucketScale scale = bucket_scale(rate);
    SCOPED_TRACE(::testing::Message() << rate.amount << " per " << rate.window_seconds << " burst " << rate.burst);
    ASSERT_GE(scale.credits, 1);
    ASSERT_GE(scale.price, 1);
    ASSERT_EQ(scale.room, scale.price * rate.burst);
    constexpr std::int64_t kMost = std::int64_t{1} << kExactBits;
    ASSERT_LT(2 * scale.room + scale.wait + scale.credits, kMost);
    __extension__ using Wide = __int128;
    const Wide refill = Wide{scale.credits} * rate.window_seconds * 1'000'000;
    const Wide asked = Wide{scale.price} * rate.amount * scale.tick_us;
    ASSERT_LE(refill, asked);
    ASSERT_GE(static_cast<double>(refill), static_cast<double>(asked) * (1 - scale.rate_error - 1e-9));
    const SlidingScale sliding = sliding_scale(rate.amount, rate.window_seconds);
    ASSERT_LT(static_cast<Wide>(rate.amount) * (sliding.parts + 1), Wide{kMost});
    ASSERT_GE(sliding.parts, 1);
  }
}

TEST(ScriptReply, IsTakenOnlyInItsRightSize) {
  std::vector<algorithm::Decision> decisions(2);
  EXPECT_TRUE(read_script_reply(std::string(24 + 2 * 34, '\0'), decisions));
  EXPECT_FALSE(read_script_reply(std::string(24 + 34, '\0'), decisions));
  EXPECT_FALSE(read_script_reply("", decisions));
  EXPECT_FALSE(read_script_reply(std::string(24, '\0') + std::string(2 * 34, '\7'), decisions)) << "no such outcome";
}

TEST(Backoff, WaitsGrowToASecondAndAreNotTheSameForAll) {
  Backoff one{1}, other{2};
  Nanoseconds sum{0};
  bool differ = false;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds wait = one.next();
    EXPECT_GT(wait, Backoff::kFirst / 4);
    EXPECT_LE(wait, Backoff::kLongest);
    differ = differ || wait != other.next();
    sum += wait;
  }
  EXPECT_TRUE(differ);
  EXPECT_GT(sum, std::chrono::seconds{2});
  one.reset();
  EXPECT_LE(one.next(), Backoff::kFirst);
}

TEST(Breaker, AnswerInTimeStartsTheCountAnew) {
  Breaker breaker{milliseconds{5}};
  for (int i = 0; i < 100; ++i) {
    breaker.note_timeout(milliseconds{i});
    if (i % 4 == 0) breaker.note_answer(milliseconds{2});
  }
  EXPECT_FALSE(breaker.open());
  for (int i = 100; i < 130; ++i) breaker.note_timeout(milliseconds{i});
  EXPECT_TRUE(breaker.open());
  EXPECT_TRUE(breaker.probe_due(milliseconds{130}));
  breaker.probe_sent(milliseconds{130});
  EXPECT_FALSE(breaker.probe_due(milliseconds{131}));
  breaker.probe_answered(milliseconds{6});
  EXPECT_TRUE(breaker.open()) << "too late to trust it";
  breaker.probe_answered(milliseconds{1});
  EXPECT_FALSE(breaker.open());
}

TEST(ElapsedClock, GoesOnByWhatPassedButNeverBackOrFar) {
  ElapsedClock clock;
  Instant now = instant_from_unix_seconds(1'772'600'767);
  EXPECT_EQ(clock.read(now), Nanoseconds{0});
  EXPECT_EQ(clock.read(now += milliseconds{3}), milliseconds{3});
  EXPECT_EQ(clock.read(now -= hours{1}), milliseconds{3});
  EXPECT_EQ(clock.read(now += milliseconds{2}), milliseconds{5});
  EXPECT_EQ(clock.read(now += hours{1}), milliseconds{5} + ElapsedClock::kLongestStep);
}

}  // namespace
}  // namespace penstock::store::redis
