#include "penstock/store/memory/note.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "penstock/base/random.h"

namespace penstock::store {
namespace {

constexpr std::uint32_t kNever = Record::kFarthestSecond;

std::uint32_t there_and_back(std::uint32_t second, std::uint32_t base) {
  return note::unpack_instant(note::pack_instant(second, base), base);
}

TEST(Note, KeepsInstantsOfTheNextHoursToTheSecond) {
  const std::uint32_t base = base_of(4505);
  for (std::uint32_t ahead = 0; ahead < 16'384; ++ahead) ASSERT_EQ(there_and_back(base + ahead, base), base + ahead);
}

TEST(Note, RoundsLaterInstantsUpByLessThanAThousandthOfTheirDistance) {
  Random random{1};
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint32_t base = base_of(static_cast<std::uint32_t>(random.below(1 << 19)));
    const auto second =
        static_cast<std::uint32_t>(base + random.below(kNever - base) / (std::uint64_t{1} << random.below(20)));
    const std::uint32_t back = there_and_back(second, base);
    ASSERT_GE(back, second) << "a counter would look fresh early; base " << base;
    if (back == kNever) continue;
    ASSERT_LE(back - second, (second - base) / 1'000) << second << " from base " << base;
  }
}

TEST(Note, MeansTheSameFromEveryLaterBaseUntilItIsOver) {
  Random random{2};
  for (int i = 0; i < 1'000'000; ++i) {
    const auto unit = static_cast<std::uint32_t>(random.below(1 << 19));
    const std::uint32_t base = base_of(unit);
    const auto second =
        static_cast<std::uint32_t>(base + 1 + random.below(kNever - base - 1) / (std::uint64_t{1} << random.below(20)));
    const std::uint32_t bits = note::pack_instant(second, base);
    const std::uint32_t later = base_of(unit + static_cast<std::uint32_t>(random.below(unit_of(second) - unit + 1)));
    ASSERT_EQ(note::unpack_instant(bits, later), note::unpack_instant(bits, base))
        << second << " from " << base << ", " << later;
  }
}

TEST(Note, NeverStaysNever) {
  EXPECT_EQ(there_and_back(kNever, 0), kNever);
  EXPECT_EQ(there_and_back(kNever, base_of(500'000)), kNever);
  EXPECT_EQ(there_and_back(kNever - 1, 0), kNever) << "what no tick reaches";
}

TEST(Note, TakesAnInstantBeforeTheBaseForTheBase) {
  EXPECT_EQ(there_and_back(base_of(7) - 1, base_of(7)), base_of(7));
  EXPECT_EQ(there_and_back(0, base_of(7)), base_of(7));
}

TEST(Note, KeepsKindShareAndScale) {
  for (std::uint8_t kind = 1; kind <= 7; ++kind) {
    for (std::uint8_t share = 1; share <= Record::kNothingRemains; ++share) {
      for (int scale = 0; scale < 256; ++scale) {
        const Record record = {
            .fresh_second = 1234, .kind = kind, .used_share = share, .scale_check = static_cast<std::uint8_t>(scale)};
        const std::uint32_t bits = note::pack(record, 0);
        ASSERT_EQ(note::unpack(bits, 0), record);
        ASSERT_EQ(note::mark(bits), static_cast<std::uint32_t>(kind << 8 | scale));
        const std::uint32_t renewed = note::renewed(bits, 9, note::pack_instant(77, 0));
        ASSERT_EQ(note::mark(renewed), note::mark(bits));
        ASSERT_EQ(note::unpack(renewed, 0).fresh_second, 77u);
        ASSERT_EQ(note::unpack(renewed, 0).used_share, 9);
      }
    }
  }
}

TEST(Note, ReadsAStampAsTheNearestUnitThatHasIt) {
  constexpr std::uint32_t kHalf = 0x4000;
  for (const std::uint32_t unit : {0u, 1u, 5'000u, 0x3fffu, 0x4000u, 0x7fffu, 0x8000u, 0x8001u, 524'287u}) {
    for (std::uint32_t away = 0; away < kHalf; away += 1 + away / 4) {
      if (away <= unit) {
        ASSERT_EQ(unit_of_stamp((unit - away) & kStampMask, unit), unit - away);
      }
      ASSERT_EQ(unit_of_stamp((unit + away) & kStampMask, unit), unit + away);
    }
  }
  EXPECT_EQ(unit_of_stamp(0x7000, 5), 0x7000u) << "no unit lies before the first";
}

TEST(Note, KnowsWhetherAnInstantLiesInAUnit) {
  const Instant begin = kStateEpoch + std::chrono::seconds{8192} * 4505;
  EXPECT_TRUE(within_unit(begin, 4505));
  EXPECT_TRUE(within_unit(begin + std::chrono::seconds{8192} - Nanoseconds{1}, 4505));
  EXPECT_FALSE(within_unit(begin - Nanoseconds{1}, 4505));
  EXPECT_FALSE(within_unit(begin + std::chrono::seconds{8192}, 4505));
  EXPECT_FALSE(within_unit(kStateEpoch - Nanoseconds{1}, 0)) << "before the epoch nothing is quick";
  EXPECT_FALSE(within_unit(Instant::min(), 0));
  EXPECT_FALSE(within_unit(Instant::max(), 524'287));
}

TEST(Share, GrowsWithWhatIsUsedAndIsFullOnlyWhereNothingRemains) {
  for (const std::uint32_t capacity : {1u, 2u, 3u, 14u, 15u, 1'000u, 4'294'967'295u}) {
    std::uint32_t former = 0;
    for (std::uint64_t step = 0; step <= 1'000; ++step) {
      const auto remaining = static_cast<std::uint32_t>(capacity - capacity * step / 1'000);
      const std::uint32_t share = share_of(capacity, remaining);
      ASSERT_GE(share, std::max(former, 1u));
      ASSERT_EQ(share == Record::kNothingRemains, remaining == 0) << remaining << " of " << capacity;
      former = share;
    }
  }
  EXPECT_EQ(share_of(0, 0), Record::kNothingRemains) << "a window that refuses everything";
}

}  // namespace
}  // namespace penstock::store
