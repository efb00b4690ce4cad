#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/store/memory/bucket.h"
#include "penstock/store/memory/sync.h"
#include "penstock/store/memory/table_places.h"
#include "penstock/store/memory/table_scratch.h"
#include "penstock/store/store.h"

namespace penstock::store {

// Goes through the charges of a batch before they are decided, so that memory is there when it is wanted. In two steps:
// fetches the tags of the first bucket, and some charges later sees by them where the counter is to be found, and
// fetches that bucket. So who decides meets neither a miss nor, where it takes one bucket or the other, a branch that
// is guessed wrongly.
//
// What is seen without the lock is a guess: whoever enters the bucket looks again, and elsewhere if it was wrong.
// Threading: Value. Ownership: borrows everything. Cost: no allocation.
template <class Sync>
class LookAhead {
 public:
  LookAhead(TablePlaces<Sync>& places, std::span<const Charge> charges, LikelyBuckets& likely) noexcept
      : places_{places}, charges_{charges}, likely_{likely} {}

  // Charges that were handed out or skipped.
  [[nodiscard]] std::size_t done() const noexcept { return done_; }

  // Where the counter of the next charge is likely to be. Requires: there is one.
  [[nodiscard]] Bucket& next() noexcept {
    look(done_ + 1);
    return places_.bucket(likely_[done_++ % likely_.size()]);
  }

  // Leaves out charges that are decided otherwise, with their memory fetched.
  void skip(std::size_t count) noexcept {
    look(done_ + count);
    done_ += count;
  }

 private:
  // So many charges ahead the tags are fetched and the buckets: each enough to cover a miss to memory, few enough for
  // the processor's outstanding misses (bench/README.md).
  static constexpr std::size_t kTagsAhead = 24;
  static constexpr std::size_t kBucketsAhead = 8;
  static_assert(kBucketsAhead < std::tuple_size_v<LikelyBuckets>);

  void look(std::size_t end) noexcept {
    for (const std::size_t to = std::min(end + kTagsAhead, charges_.size()); tags_ < to; ++tags_) {
      prefetch_tags(places_.bucket(places_.address_of(charges_.data()[tags_].counter).first));
    }
    for (const std::size_t to = std::min(end + kBucketsAhead, charges_.size()); buckets_ < to; ++buckets_) {
      const Address address = places_.address_of(charges_.data()[buckets_].counter);
      Sync::reach(SyncPoint::guessing, &places_.bucket(address.first));
      const std::uint32_t index = glimpse(places_.bucket(address.first), address.tag) ? address.first : address.second;
      prefetch(places_.bucket(index));
      likely_[buckets_ % likely_.size()] = index;
    }
  }

  TablePlaces<Sync>& places_;
  const std::span<const Charge> charges_;
  LikelyBuckets& likely_;
  std::size_t tags_ = 0;     // charges whose first bucket was fetched
  std::size_t buckets_ = 0;  // charges whose likely bucket was
  std::size_t done_ = 0;
};

}  // namespace penstock::store
