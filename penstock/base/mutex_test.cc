#include "penstock/base/mutex.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

// A clang build of this file also shows that the annotations hold together: reading `value` without the lock is an
// error.
class Tally {
 public:
  void add() {
    const MutexLock lock{mutex_};
    ++value_;
  }
  int value() {
    const MutexLock lock{mutex_};
    return value_;
  }

 private:
  Mutex mutex_;
  int value_ PENSTOCK_GUARDED_BY(mutex_) = 0;
};

TEST(Mutex, LosesNoUpdateOfManyThreads) {
  Tally tally;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&tally] {
        for (int i = 0; i < 1000; ++i) tally.add();
      });
    }
  }
  EXPECT_EQ(tally.value(), 4000);
}

}  // namespace
}  // namespace penstock
