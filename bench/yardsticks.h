#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include <boost/unordered/unordered_flat_map.hpp>

#include "penstock/algorithm/algorithm.h"
#include "penstock/base/mutex.h"
#include "penstock/base/thread_annotations.h"
#include "penstock/store/store.h"

// What a reader would build first, with the same algorithms: no bound on memory, no expiry, no groups. They show what
// the table costs and saves, and nothing else.

namespace penstock::bench {

struct HashItself {
  std::size_t operator()(const Hash128& counter) const noexcept { return counter.low; }
};

// Decides a batch of single charges on a map that one mutex guards.
class LockedMap {
 public:
  void submit(const store::Batch& batch, Instant now) {
    for (std::size_t i = 0; i < batch.charges.size(); ++i) {
      const store::Charge& charge = batch.charges[i];
      const MutexLock lock{mutex_};
      algorithm::State& state = states_[charge.counter];
      const algorithm::Step step = algorithm::decide(*charge.limit, state, now, charge.cost);
      state = step.state;
      batch.decisions[i] = step.decision;
    }
  }
  void reserve(std::size_t counters) {
    const MutexLock lock{mutex_};
    states_.reserve(counters);
  }

 private:
  Mutex mutex_;
  std::unordered_map<Hash128, algorithm::State, HashItself> states_ PENSTOCK_GUARDED_BY(mutex_);
};

// The same on open addressing, in stripes of which each has a mutex.
class StripedFlatMap {
 public:
  void submit(const store::Batch& batch, Instant now) {
    for (std::size_t i = 0; i < batch.charges.size(); ++i) {
      const store::Charge& charge = batch.charges[i];
      Stripe& stripe = (*stripes_)[charge.counter.high >> 58];
      const MutexLock lock{stripe.mutex};
      algorithm::State& state = stripe.states[charge.counter];
      const algorithm::Step step = algorithm::decide(*charge.limit, state, now, charge.cost);
      state = step.state;
      batch.decisions[i] = step.decision;
    }
  }
  void reserve(std::size_t counters) {
    for (Stripe& stripe : *stripes_) {
      const MutexLock lock{stripe.mutex};
      stripe.states.reserve(counters / stripes_->size() * 5 / 4);
    }
  }

 private:
  struct alignas(64) Stripe {
    Mutex mutex;
    boost::unordered_flat_map<Hash128, algorithm::State, HashItself> states PENSTOCK_GUARDED_BY(mutex);
  };
  std::unique_ptr<std::array<Stripe, 64>> stripes_ = std::make_unique<std::array<Stripe, 64>>();
};

}  // namespace penstock::bench
