#include "penstock/protocol/check_batch.h"

#include <utility>

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
  open_text_bytes_ = 0;
}

std::unexpected<Error> CheckBatch::refuse(std::string text) {
  refused_.add();
  return fail(ErrorCode::invalid_argument, std::move(text));
}

Result<void> CheckBatch::set_domain(std::string_view domain) {
  open_.domain = domain;
  return add_text(domain, "domain");
}

Result<void> CheckBatch::add_text(std::string_view text, std::string_view what) {
  if (text.size() > kMaxTextBytes) {
    const bool of_entry = what != "domain";
    return refuse(fmt::format(
        "{}{} has {} bytes; at most {} are accepted",
        of_entry ? fmt::format("descriptors[{}].entries[{}].", open_descriptors_ - 1, entry_counts_.back()) : "", what,
        text.size(), kMaxTextBytes));
  }
  open_text_bytes_ += text.size();
  if (open_text_bytes_ <= kMaxAllTextBytes) return {};
  return refuse(fmt::format("the request's domain, keys and values have more than {} bytes together, which is the most",
                            kMaxAllTextBytes));
}

Result<void> CheckBatch::add_descriptor() {
  if (open_descriptors_ == kMaxDescriptors) {
    return refuse(fmt::format("the request has more than {} descriptors, which is the most", kMaxDescriptors));
  }
  descriptors_.emplace_back();
  entry_counts_.push_back(0);
  ++open_descriptors_;
  return {};
}

Result<void> CheckBatch::add_entry(rules::Entry entry) {
  PENSTOCK_DCHECK(open_descriptors_ > 0);
  if (entry_counts_.back() == kMaxEntriesPerDescriptor) {
    return refuse(fmt::format("descriptors[{}] has more than {} entries, which is the most", open_descriptors_ - 1,
                              kMaxEntriesPerDescriptor));
  }
  if (open_entries_ == kMaxEntries) {
    return refuse(fmt::format("the request has more than {} entries, which is the most", kMaxEntries));
  }
  if (auto key = add_text(entry.key, "key"); !key) return key;
  if (auto value = add_text(entry.value, "value"); !value) return value;
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
