#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "penstock/algorithm/sliding_log.h"
#include "penstock/store/memory/log_home.h"
#include "penstock/store/memory/table_metrics.h"
#include "penstock/store/record.h"

namespace penstock::store {

// Sees to it that the sliding logs of a table have the room that they need, and that no ring is lost.
//
// Before a charge to a log that is in the table, `ready` gives it a larger ring where it takes one, or folds. What that
// returns is the same log, to be written to its slots at once, whatever becomes of the charge; then any number of
// charges at that instant find their place, and those that are not kept leave nothing behind. A log that is not in the
// table yet needs no ring for its first charges. Looks need nothing made ready.
//
// Threading: Thread-safe, as LogHome; every log is handed in by who holds its bucket. Ownership: borrows the home.
// Cost: a comparison for a log that has a free place; growing copies the entries, so an entry is copied once on
// average.
class LogKeeper {
 public:
  // How many blocks are looked at for a ring that can be reclaimed, before a log that wants one folds. Few, as a home
  // full of logs that count makes every charge of a growing log look.
  static constexpr int kLooks = 16;

  explicit LogKeeper(LogHome& home) noexcept : home_{home} {}

  [[nodiscard]] static bool is_log(const Record& record) noexcept { return record.kind == kLogKind; }

  // The ring of a record's log; empty where it has none, or is none.
  [[nodiscard]] algorithm::LogPlaces places(const Record& record) const noexcept {
    const std::optional<LogRing> ring = ring_of(record);
    return ring ? home_.places(*ring) : algorithm::LogPlaces{};
  }

  // Who asks: the bucket that holds the log, locked by this thread.
  struct Asker {
    std::uint32_t bucket;
    Instant now;
    MemoryStoreMetrics& metrics;
  };

  // The log in a state that has room for charges at this instant; a record of another algorithm as it is.
  // `give_up(LogHome::Owned)` is asked for rings when none is free. It tries to lock the bucket, but not for long,
  // gives the ring back (`release`) if there is a log with it that is as good as fresh, and says whether it did.
  template <class GiveUp>
  [[nodiscard]] algorithm::State ready(const algorithm::Limit& limit, const Record& record, const Asker& asker,
                                       GiveUp give_up) noexcept {
    const std::size_t wanted = is_log(record) ? places_wanted(limit, record, asker.now) : 0;
    if (wanted == 0) return record.state;
    const bool moves = wanted != places(record).size();
    return moved(limit, record, asker, moves ? acquire(wanted, asker, give_up) : std::nullopt);
  }

  // What `before` kept is now kept as `after`: gives its ring back where that does not have it.
  void replace(const Record& before, const Record& after, MemoryStoreMetrics& metrics) noexcept {
    const std::optional<LogRing> ring = ring_of(before);
    if (ring && ring != ring_of(after)) give_back(*ring, metrics);
  }
  // The record is not kept any more.
  void release(const Record& record, MemoryStoreMetrics& metrics) noexcept { replace(record, {}, metrics); }

  [[nodiscard]] static std::optional<LogRing> ring_of(const Record& record) noexcept {
    return is_log(record) ? algorithm::log_ring(record.state) : std::nullopt;
  }

 private:
  static constexpr std::uint8_t kLogKind = static_cast<std::uint8_t>(algorithm::Algorithm::sliding_log) + 1;

  // The size of the ring that the log is to have, its own where that has to be made room in, 0 where nothing is to do.
  [[nodiscard]] std::size_t places_wanted(const algorithm::Limit& limit, const Record& record,
                                          Instant now) const noexcept;
  [[nodiscard]] algorithm::State moved(const algorithm::Limit& limit, const Record& record, const Asker& asker,
                                       std::optional<LogRing> ring) noexcept;
  void give_back(LogRing ring, MemoryStoreMetrics& metrics) noexcept;

  template <class GiveUp>
  [[nodiscard]] std::optional<LogRing> acquire(std::size_t places, const Asker& asker, GiveUp give_up) noexcept {
    std::optional<LogRing> ring = home_.acquire(places, asker.bucket);
    for (int look = 0; !ring && look < kLooks; ++look) {
      const std::optional<LogHome::Owned> met = home_.next_ring();
      if (!met || !give_up(*met)) continue;
      asker.metrics.logs_reclaimed.add();
      ring = home_.acquire(places, asker.bucket);
    }
    return ring;
  }

  LogHome& home_;
};

}  // namespace penstock::store
