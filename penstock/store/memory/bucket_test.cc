#include "penstock/store/memory/bucket.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/store/memory/placement.h"
#include "penstock/store/memory/slots.h"

namespace penstock::store {
namespace {

constexpr std::uint32_t kBase = base_of(4505);
constexpr std::uint8_t kOneWord = 2, kTwoWords = 7;  // gcra, and with a peak

Bucket random_bucket(Random& random) {
  Bucket bucket{};
  for (std::uint32_t i = 0; i < Bucket::kSlots; ++i) {
    // Few values, so that halves of tags meet.
    bucket.tag_low[i] = static_cast<std::uint32_t>(random.below(3));
    bucket.tag_high[i] = static_cast<std::uint16_t>(random.below(3) * 0x7fff);
    bucket.notes[i] = static_cast<std::uint32_t>(random.next());
    bucket.words[i] = random.next();
  }
  bucket.head = static_cast<std::uint16_t>(random.next());
  return bucket;
}

TEST(Bucket, FindsTheSameSlotsAllAtOnceAsOneByOne) {
  Random random{1};
  for (int i = 0; i < 200'000; ++i) {
    const Bucket bucket = random_bucket(random);
    for (std::uint32_t low = 0; low < 3; ++low) {
      for (std::uint32_t high = 0; high < 3; ++high) {
        const Tag tag = {.low = low, .high = static_cast<std::uint16_t>(high * 0x7fff)};
        ASSERT_EQ(matching(bucket, tag), matching_one_by_one(bucket, tag)) << "round " << i;
      }
    }
  }
}

TEST(Bucket, NoCounterHasTheTagOfAnEmptySlot) {
  const Tag tag = tag_of({.low = 1, .high = 0});
  EXPECT_TRUE(tag.low != 0 || tag.high != 0);
  EXPECT_EQ(empty_slots(Bucket{}), kAllSlots);
}

TEST(Bucket, AddressesReachEveryBucketAndNoOther) {
  constexpr std::uint32_t kBuckets = 5;
  std::vector<int> first(kBuckets), second(kBuckets);
  Random random{2};
  for (int i = 0; i < 1'000; ++i) {
    const Address address = address_of({.low = random.next(), .high = random.next()}, kBuckets);
    ++first.at(address.first);
    ++second.at(address.second);
  }
  for (std::uint32_t i = 0; i < kBuckets; ++i) {
    EXPECT_NEAR(first[i], 200, 60);
    EXPECT_NEAR(second[i], 200, 60);
  }
  const Address last = address_of({.low = ~std::uint64_t{0}, .high = 0}, kBuckets);
  EXPECT_EQ(last.first, kBuckets - 1);
  EXPECT_EQ(last.second, kBuckets - 1);
}

// A bucket with counters of one and two slots, in the order in which they came.
class Filled {
 public:
  void add(std::uint32_t tag, const Record& record) {
    const std::uint32_t wanted = slots_of_kind(record.kind);
    const Slots free = empty_slots(bucket_);
    ASSERT_GE(number_of(free), wanted);
    const Slots slots = free & ~(wanted == 1 ? without_lowest(free) : without_lowest(without_lowest(free)));
    set_tags(bucket_, slots, {.low = tag});
    write(held(), slots, record);
  }
  [[nodiscard]] HeldBucket held() { return {.bucket = bucket_, .base = kBase}; }
  [[nodiscard]] Slots slots_of(std::uint32_t tag) { return matching(bucket_, {.low = tag}); }

 private:
  Bucket bucket_{};
};

Record record_of(std::uint8_t kind, std::uint8_t share, std::uint32_t fresh_in) {
  return {.state = {.word = share, .second = kind == kTwoWords ? 77u : 0u},
          .fresh_second = kBase + fresh_in,
          .kind = kind,
          .used_share = share,
          .scale_check = 9};
}

TEST(Slots, KeepStatesOfOneWordAndOfTwo) {
  Filled filled;
  filled.add(1, record_of(kOneWord, 3, 100));
  filled.add(2, record_of(kTwoWords, 4, 200));
  filled.add(3, record_of(kOneWord, 5, 300));
  EXPECT_EQ(read(filled.held(), filled.slots_of(1)), record_of(kOneWord, 3, 100));
  EXPECT_EQ(read(filled.held(), filled.slots_of(2)), record_of(kTwoWords, 4, 200));
  EXPECT_EQ(read(filled.held(), filled.slots_of(3)), record_of(kOneWord, 5, 300));
  EXPECT_EQ(number_of(filled.slots_of(2)), 2u);
  EXPECT_EQ(first_slots(filled.held().bucket), 0b1011u);
}

TEST(Placement, CountsAsExpiredWhatIsFreshWithBothItsSlots) {
  Filled filled;
  filled.add(1, record_of(kOneWord, 3, 100));
  filled.add(2, record_of(kTwoWords, 4, 50));
  filled.add(3, record_of(kOneWord, 5, 51));
  const Counters expired = expired_counters(filled.held(), kBase + 50);
  EXPECT_EQ(expired.count, 1u);
  EXPECT_EQ(expired.slots, filled.slots_of(2));
  EXPECT_EQ(expired_counters(filled.held(), kBase + 100).count, 3u);
}

TEST(Placement, NeverExpiresWhatLiesBeyondTheRangeOfSeconds) {
  Filled filled;
  Record record = record_of(kOneWord, 3, 0);
  record.fresh_second = Record::kFarthestSecond;
  filled.add(1, record);
  EXPECT_EQ(expired_counters(filled.held(), Record::kFarthestSecond).count, 0u);
}

TEST(Placement, PushesOutTheLeastUsedAndAmongEqualsTheNearestToFresh) {
  Filled filled;
  for (std::uint32_t i = 0; i < 7; ++i) filled.add(1 + i, record_of(kOneWord, i < 2 ? 3 : 8, 100 - i));
  const Victims victims = choose_victims(filled.held(), 1);
  EXPECT_EQ(victims.counters.count, 1u);
  EXPECT_EQ(victims.counters.slots, filled.slots_of(2));
}

TEST(Placement, PushesOutTwoForOneOfTwoWordsUnlessOneIsEnough) {
  Filled one_word_each;
  for (std::uint32_t i = 0; i < 7; ++i)
    one_word_each.add(1 + i, record_of(kOneWord, static_cast<std::uint8_t>(8 - i), 100));
  const Victims two = choose_victims(one_word_each.held(), 2);
  EXPECT_EQ(two.counters.count, 2u);
  EXPECT_EQ(two.counters.slots, one_word_each.slots_of(7) | one_word_each.slots_of(6));

  Filled with_a_pair;
  with_a_pair.add(1, record_of(kTwoWords, 2, 100));
  for (std::uint32_t i = 0; i < 5; ++i) with_a_pair.add(2 + i, record_of(kOneWord, 8, 100));
  const Victims pair = choose_victims(with_a_pair.held(), 2);
  EXPECT_EQ(pair.counters.count, 1u);
  EXPECT_EQ(pair.counters.slots, with_a_pair.slots_of(1));

  Filled with_a_free_slot;
  for (std::uint32_t i = 0; i < 6; ++i) with_a_free_slot.add(1 + i, record_of(kOneWord, 8, 100 + i));
  EXPECT_EQ(choose_victims(with_a_free_slot.held(), 2).counters.slots, with_a_free_slot.slots_of(1));
}

}  // namespace
}  // namespace penstock::store
