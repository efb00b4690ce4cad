#include "penstock/store/memory/log_keeper.h"

#include <bit>

namespace penstock::store {
namespace {

// A ring of which less than this part is in use is changed for a smaller one, so that what a log once needed does not
// stay with it for as long as it is used. Far from a half, where it would grow and shrink by turns.
constexpr std::size_t kSparse = 8;

}  // namespace

std::size_t LogKeeper::places_wanted(const algorithm::Limit& limit, const Record& record, Instant now) const noexcept {
  const std::size_t size = places(record).size();
  const std::size_t entries = algorithm::log_size(record.state);
  if (size > LogHome::kMinPlaces && entries * kSparse < size) {
    return std::max(std::bit_ceil(2 * entries), LogHome::kMinPlaces);
  }
  const std::size_t wanted = algorithm::log_places_wanted(limit, record.state, now, places(record));
  return wanted > size ? std::max(std::bit_ceil(wanted), LogHome::kMinPlaces) : wanted == 0 ? 0 : size;
}

// Without a ring: stays where it is, and folds where it is full.
algorithm::State LogKeeper::moved(const algorithm::Limit& limit, const Record& record, const Asker& asker,
                                  std::optional<LogRing> ring) noexcept {
  const algorithm::LogPlaces from = places(record);
  if (ring) {
    const algorithm::LogPlaces to = home_.places(*ring);
    asker.metrics.log_rings_taken.add();
    asker.metrics.log_bytes_taken.add(to.size_bytes());
    const algorithm::State state = algorithm::move_log(record.state, from, {.ring = *ring, .places = to});
    release(record, asker.metrics);
    return state;
  }
  if (algorithm::log_size(record.state) < from.size()) return record.state;
  const std::size_t wanted = algorithm::log_places_wanted(limit, record.state, asker.now, from);
  if (wanted > from.size()) asker.metrics.logs_folded.add();
  return from.empty() ? record.state : algorithm::make_room(limit, record.state, asker.now, from);
}

void LogKeeper::give_back(LogRing ring, MemoryStoreMetrics& metrics) noexcept {
  metrics.log_rings_returned.add();
  metrics.log_bytes_returned.add(home_.places(ring).size_bytes());
  home_.release(ring);
}

}  // namespace penstock::store
