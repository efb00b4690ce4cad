#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/base/instant.h"
#include "penstock/limiter/limiter.h"
#include "penstock/metrics/counter.h"

namespace penstock::protocol {

// The checks of one batch in three flat lists, filled one check after the other by a decoder. A decoder calls `begin`,
// what it reads, and leaves the check open; the caller ends it with `commit`, or with `abandon` if it was no good.
//
// Threading: Loop-owned. Ownership: texts are borrowed until `clear`. Cost: no allocation after warm-up; lists that a
// rare huge batch has grown beyond kKeptEntries are given back by `clear`.
class CheckBatch {
 public:
  // A message of 4 MiB could hold two million empty descriptors; what no sane caller sends is refused.
  static constexpr std::size_t kMaxDescriptors = 10'000;  // of one check
  static constexpr std::size_t kMaxEntriesPerDescriptor = 1'000;
  static constexpr std::size_t kMaxEntries = 100'000;             // of one check
  static constexpr std::size_t kMaxTextBytes = 64UL * 1024;       // of the domain, a key or a value
  static constexpr std::size_t kMaxAllTextBytes = 2048UL * 1024;  // of one check's domain, keys and values together
  static constexpr std::size_t kKeptEntries = 65'536;

  // From so many descriptors or entries on a batch is decided before more is read: one turn may bring millions of them.
  static constexpr std::size_t kFullDescriptors = 8'192;
  static constexpr std::size_t kFullEntries = 65'536;
  [[nodiscard]] bool full() const noexcept {
    return descriptors_.size() >= kFullDescriptors || entries_.size() >= kFullEntries;
  }

  void clear();

  void begin();
  // Errors, as those of the two below: invalid_argument beyond the maxima above; they never show the text.
  [[nodiscard]] Result<void> set_domain(std::string_view domain);
  void set_hits_addend(std::uint32_t hits) noexcept { open_.hits_addend = hits; }
  [[nodiscard]] Result<void> add_descriptor();
  [[nodiscard]] Result<void> add_entry(rules::Entry entry);  // to the descriptor added last
  [[nodiscard]] limiter::Descriptor& last_descriptor() noexcept { return descriptors_.back(); }

  void commit(std::uint64_t ticket, Instant deadline);
  void abandon();

  // Has all committed checks decided, if there are any, and empties the batch.
  void decide(limiter::Limiter& limiter, Instant now, limiter::VerdictSink& sink);

  // All committed checks; valid until the next change.
  [[nodiscard]] std::span<const limiter::Check> checks();

  // Checks that passed a maximum. Threading: read by any thread.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.value(); }

 private:
  [[nodiscard]] Result<void> add_text(std::string_view text, std::string_view what);
  [[nodiscard]] std::unexpected<Error> refuse(std::string text);

  limiter::Check open_;
  std::size_t open_descriptors_ = 0;  // of the open check: they are the last ones
  std::size_t open_entries_ = 0;
  std::size_t open_text_bytes_ = 0;
  metrics::Counter refused_;
  std::vector<limiter::Check> checks_;
  std::vector<std::uint32_t> descriptor_counts_;  // one a check
  std::vector<limiter::Descriptor> descriptors_;  // spans are set by `checks`, when nothing moves any more
  std::vector<std::uint32_t> entry_counts_;       // one a descriptor
  std::vector<rules::Entry> entries_;
};

}  // namespace penstock::protocol
