#pragma once

#include <mutex>

#include "penstock/base/thread_annotations.h"

namespace penstock {

// std::mutex with the annotations that libstdc++ lacks. Every mutex stands next to the data it guards.
// Threading: Thread-safe.
class PENSTOCK_CAPABILITY("mutex") Mutex {
 public:
  void lock() PENSTOCK_ACQUIRE() { mutex_.lock(); }
  void unlock() PENSTOCK_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class PENSTOCK_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) PENSTOCK_ACQUIRE(mutex) : mutex_{mutex} { mutex_.lock(); }
  ~MutexLock() PENSTOCK_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace penstock
