#include "penstock/store/memory/log_home.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/base/testing/allocation_count.h"

namespace penstock::store {
namespace {

constexpr std::uint64_t kUnitBytes = 108;  // of a home, for the 8 places of the smallest ring

std::unique_ptr<LogHome> home_for(std::uint64_t places) {
  return LogHome::create(places / LogHome::kMinPlaces * kUnitBytes).value();
}

TEST(LogHome, GivesRingsOfThePowerOfTwoThatHoldsWhatIsAskedFor) {
  const auto home = home_for(200'000);
  for (const auto& [asked, given] : {std::pair<std::size_t, std::size_t>{1, 8},
                                     {8, 8},
                                     {9, 16},
                                     {16, 16},
                                     {1000, 1024},
                                     {65'535, 65'536},
                                     {65'536, 65'536}}) {
    const auto ring = home->acquire(asked, 7);
    ASSERT_TRUE(ring.has_value()) << asked;
    EXPECT_EQ(home->places(*ring).size(), given) << asked;
    EXPECT_LT(*ring, std::uint64_t{1} << 36) << asked;
    home->release(*ring);
  }
}

TEST(LogHome, HasNoRingWhereItHasNoRoom) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, kUnitBytes - 1}) {
    const auto home = LogHome::create(bytes).value();
    EXPECT_FALSE(home->acquire(1, 0).has_value()) << bytes;
    EXPECT_FALSE(home->next_ring().has_value()) << bytes;
  }
  EXPECT_FALSE(home_for(64)->acquire(65, 0).has_value());
}

TEST(LogHome, NamesTheRangeWhereItsSizeIsOutOfIt) {
  const auto home = LogHome::create(LogHome::kMaxBytes + 1);
  ASSERT_FALSE(home.has_value());
  EXPECT_EQ(home.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(home.error().message.find("400000000001"), std::string::npos) << home.error().message;
  EXPECT_NE(home.error().message.find("0 to 400000000000"), std::string::npos) << home.error().message;
}

TEST(LogHome, UsesAllOfARegionOfAnySize) {
  for (const std::uint64_t units : {1u, 7u, 13u, 100u, 8192u, 10'001u}) {
    const auto home = home_for(units * LogHome::kMinPlaces);
    std::uint64_t rings = 0;
    while (home->acquire(1, 0).has_value()) ++rings;
    EXPECT_EQ(rings, units);
    EXPECT_EQ(home->in_use().rings, units);
    EXPECT_EQ(home->in_use().bytes, units * 96);
  }
}

TEST(LogHome, SmallRingsThatAreGivenBackMakeRoomForTheLargest) {
  const auto home = home_for(LogHome::kMaxPlaces);
  for (int round = 0; round < 3; ++round) {
    std::vector<LogRing> rings;
    while (const auto ring = home->acquire(1, 0)) rings.push_back(*ring);
    EXPECT_FALSE(home->acquire(LogHome::kMaxPlaces, 0).has_value());
    Random random{static_cast<std::uint64_t>(round)};
    for (std::size_t left = rings.size(); left > 1; --left) std::swap(rings[left - 1], rings[random.below(left)]);
    for (const LogRing ring : rings) home->release(ring);
    const auto whole = home->acquire(LogHome::kMaxPlaces, 0);
    ASSERT_TRUE(whole.has_value());
    home->release(*whole);
  }
}

TEST(LogHome, HandComesByEveryRingAndNamesItsOwner) {
  const auto home = home_for(4096);
  std::map<LogRing, std::uint32_t> owners;
  for (std::uint32_t owner = 0; owner < 20; ++owner)
    owners[home->acquire(std::size_t{8} << owner % 4, owner).value()] = owner;
  for (int round = 0; round < 2; ++round) {
    std::map<LogRing, std::uint32_t> met;
    for (int step = 0; step < 40; ++step) {
      if (const auto ring = home->next_ring()) met[ring->ring] = ring->owner;
    }
    EXPECT_EQ(met, owners);
  }
}

// A home as a list of who has which places.
class RandomUse {
 public:
  RandomUse(LogHome& home, std::uint64_t seed) : home_{home}, random_{seed} {}

  void step() {
    if (random_.below(2) == 0 && !rings_.empty()) {
      give_back(random_.below(rings_.size()));
    } else if (random_.below(8) == 0) {
      meet(home_.next_ring());
    } else {
      take(1 + random_.below(std::uint64_t{1} << random_.below(10)));
    }
  }

  void check_usage() const {
    std::uint64_t bytes = 0;
    for (const Held& held : rings_) bytes += home_.places(held.ring).size_bytes();
    EXPECT_EQ(home_.in_use().rings, rings_.size());
    EXPECT_EQ(home_.in_use().bytes, bytes);
  }

 private:
  struct Held {
    LogRing ring;
    std::uint32_t owner;
  };

  void take(std::size_t places) {
    const auto owner = static_cast<std::uint32_t>(random_.next());
    const auto ring = home_.acquire(places, owner);
    if (!ring) return;
    const auto held = home_.places(*ring);
    ASSERT_GE(held.size(), places);
    for (algorithm::LogEntry& place : held) {
      ASSERT_TRUE(taken_.insert(&place).second) << "two rings share a place";
    }
    rings_.push_back({*ring, owner});
  }

  void give_back(std::size_t at) {
    for (algorithm::LogEntry& place : home_.places(rings_[at].ring)) taken_.erase(&place);
    home_.release(rings_[at].ring);
    rings_.erase(rings_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void meet(std::optional<LogHome::Owned> met) {
    if (!met) return;
    const auto known = std::ranges::find(rings_, met->ring, &Held::ring);
    ASSERT_NE(known, rings_.end()) << "a ring that nobody has";
    EXPECT_EQ(known->owner, met->owner);
  }

  LogHome& home_;
  Random random_;
  std::vector<Held> rings_;
  std::set<algorithm::LogEntry*> taken_;
};

TEST(LogHome, RingsNeverShareAPlaceHoweverTheyComeAndGo) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto home = home_for(5000);
    RandomUse use{*home, seed};
    for (int step = 0; step < 3000; ++step) use.step();
    use.check_usage();
  }
}

TEST(LogHome, AllocatesNothingOnceItStands) {
  const auto home = home_for(100'000);
  const std::uint64_t before = allocation_count();
  for (int round = 0; round < 100; ++round) {
    const auto a = home->acquire(100, 1), b = home->acquire(10'000, 2);
    (void)home->next_ring();
    home->release(*a);
    home->release(*b);
  }
  EXPECT_EQ(allocation_count() - before, 0u);
}

}  // namespace
}  // namespace penstock::store
