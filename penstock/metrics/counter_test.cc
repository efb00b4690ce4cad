#include "penstock/metrics/counter.h"

#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace penstock::metrics {
namespace {

TEST(Counter, StartsAtZeroAndAddsWhatItIsTold) {
  Counter counter;
  EXPECT_EQ(counter.value(), 0u);
  counter.add();
  counter.add(41);
  EXPECT_EQ(counter.value(), 42u);
}

TEST(Counter, WrapsRatherThanStopping) {
  Counter counter;
  counter.add(UINT64_MAX);
  counter.add(2);
  EXPECT_EQ(counter.value(), 1u);
}

TEST(Counter, ReadFromAnotherThreadNeverFallsAndLosesNothing) {
  constexpr std::uint64_t kAdds = 20'000;
  Counter counter;
  std::thread owner{[&counter] {
    for (std::uint64_t i = 0; i < kAdds; ++i) counter.add();
  }};
  std::uint64_t last = 0;
  for (int reads = 0; reads < 1'000; ++reads) {
    const std::uint64_t seen = counter.value();
    ASSERT_GE(seen, last);
    last = seen;
  }
  owner.join();
  EXPECT_EQ(counter.value(), kAdds);
}

}  // namespace
}  // namespace penstock::metrics
