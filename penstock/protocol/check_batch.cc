#include "penstock/protocol/check_batch.h"

#include <fmt/format.h>

#include "penstock/base/check.h"

namespace penstock::protocol {
namespace {

template <class T>
void clear_and_trim(std::vector<T>& list) {
  if (list.capacity() > CheckBatch::kKeptEntries) {
    list = {};
  } else {
    list.clear();
  }
}

}  // namespace

void CheckBatch::clear() {
  clear_and_trim(checks_);
  clear_and_trim(descriptor_counts_);
  clear_and_trim(descriptors_);
  clear_and_trim(entry_counts_);
  clear_and_trim(entries_);
}

void CheckBatch::begin() {
  open_ = {};
  open_descriptors_ = 0;
  open_entries_ = 0;
}

Result<void> CheckBatch::add_descriptor() {
  if (open_descriptors_ == kMaxDescriptors) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the request has more than {} descriptors, which is the most", kMaxDescriptors));
  }
  descriptors_.emplace_back();
  entry_counts_.push_back(0);
  ++open_descriptors_;
  return {};
}

Result<void> CheckBatch::add_entry(rules::Entry entry) {
  PENSTOCK_DCHECK(open_descriptors_ > 0);
  if (entry_counts_.back() == kMaxEntriesPerDescriptor) {
    return fail(ErrorCode::invalid_argument, fmt::format("descriptors[{}] has more than {} entries, which is the most",
                                                         open_descriptors_ - 1, kMaxEntriesPerDescriptor));
  }
  entries_.push_back(entry);
  ++entry_counts_.back();
  ++open_entries_;
  return {};
}

void CheckBatch::commit(std::uint64_t ticket, Instant deadline) {
  open_.ticket = ticket;
  open_.deadline = deadline;
  checks_.push_back(open_);
  descriptor_counts_.push_back(static_cast<std::uint32_t>(open_descriptors_));
  begin();
}

void CheckBatch::abandon() {
  descriptors_.resize(descriptors_.size() - open_descriptors_);
  entry_counts_.resize(entry_counts_.size() - open_descriptors_);
  entries_.resize(entries_.size() - open_entries_);
  begin();
}

void CheckBatch::decide(limiter::Limiter& limiter, Instant now, limiter::VerdictSink& sink) {
  if (!checks_.empty()) limiter.decide(checks(), now, sink);
  clear();
}

std::span<const limiter::Check> CheckBatch::checks() {
  std::size_t descriptor = 0;
  std::size_t entry = 0;
  for (std::size_t check = 0; check < checks_.size(); ++check) {
    const std::size_t count = descriptor_counts_[check];
    checks_[check].descriptors = std::span{descriptors_}.subspan(descriptor, count);
    for (const std::size_t end = descriptor + count; descriptor < end; ++descriptor) {
      descriptors_[descriptor].entries = std::span{entries_}.subspan(entry, entry_counts_[descriptor]);
      entry += entry_counts_[descriptor];
    }
  }
  return checks_;
}

}  // namespace penstock::protocol
