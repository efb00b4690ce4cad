#include "penstock/store/denied_table.h"

#include <algorithm>
#include <thread>

namespace penstock::store {
namespace {

std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  state = (state ^ value) * 0x9e37'79b9'7f4a'7c15;
  return state ^ (state >> 29);
}

}  // namespace

std::uint64_t limit_check(const algorithm::Limit& limit, std::int64_t window) noexcept {
  std::uint64_t check = static_cast<std::uint64_t>(limit.algorithm());
  for (const std::int64_t part :
       {std::int64_t{limit.amount()}, limit.window_seconds(), std::int64_t{limit.capacity()}, limit.ticks().per_second,
        limit.ticks().per_burst, limit.peak_ticks().per_second, limit.peak_ticks().per_burst, limit.max_wait().count(),
        std::int64_t{limit.counts_refused()}, std::int64_t{limit.spreads_windows()}, window}) {
    check = mixed(check, static_cast<std::uint64_t>(part));
  }
  return check;
}

// A bucket while it is looked at: for tens of nanoseconds, so whoever comes in between waits in place.
class DeniedTable::Held {
 public:
  explicit Held(Bucket& bucket) noexcept : bucket_{bucket} {
    while (bucket_.locked.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Held() { bucket_.locked.clear(std::memory_order_release); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Bucket& bucket_;
};

DeniedTable::DeniedTable(std::size_t bytes) : buckets_(std::max<std::size_t>(1, bytes / sizeof(Bucket))) {
  static_assert(sizeof(Bucket) <= kBucketBytes + 64);
}

std::optional<Denial> DeniedTable::find(const Hash128& counter, std::uint64_t limit, std::uint64_t cost,
                                        Instant now) noexcept {
  Bucket& bucket = bucket_of(counter);
  const Held held{bucket};
  for (const Entry& entry : bucket.entries) {
    const Denial& denial = entry.denial;
    if (entry.counter == counter && denial.limit == limit && cost >= denial.cost && now < denial.until) return denial;
  }
  return std::nullopt;
}

DeniedTable::Reading DeniedTable::read(const Hash128& counter) noexcept {
  Bucket& bucket = bucket_of(counter);
  const Held held{bucket};
  return {.version = bucket.version};
}

void DeniedTable::keep(const Hash128& counter, const Denial& denial, Instant now, Reading reading) noexcept {
  Bucket& bucket = bucket_of(counter);
  const Held held{bucket};
  if (bucket.version != reading.version || denial.until <= now) return;
  const auto same = [&](const Entry& entry) {
    return entry.counter == counter && entry.denial.limit == denial.limit && entry.denial.cost == denial.cost;
  };
  auto place = std::ranges::find_if(bucket.entries, same);
  if (place == bucket.entries.end()) {
    place = std::ranges::min_element(bucket.entries, {}, [](const Entry& entry) { return entry.denial.until; });
  }
  *place = {.counter = counter, .denial = denial};
}

void DeniedTable::clear(const Hash128& counter) noexcept {
  Bucket& bucket = bucket_of(counter);
  const Held held{bucket};
  ++bucket.version;
  for (Entry& entry : bucket.entries) {
    if (entry.counter == counter) entry = {};
  }
}

void DeniedTable::clear_all() noexcept {
  for (Bucket& bucket : buckets_) {
    const Held held{bucket};
    ++bucket.version;
    bucket.entries.fill({});
  }
}

}  // namespace penstock::store
