#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "penstock/limiter/check.h"
#include "penstock/limiter/verdict.h"
#include "penstock/protocol/reply_options.h"
#include "penstock/rules/metadata.h"

namespace penstock::protocol {

struct NamedValue {
  std::string key;
  std::string value;

  friend bool operator==(const NamedValue&, const NamedValue&) = default;
};

// What one reply holds beyond codes and statuses.
struct ReplyExtras {
  std::vector<NamedValue> response_headers;
  std::vector<NamedValue> request_headers;
  std::optional<rules::Metadata> dynamic_metadata;  // a map
};

// The header that names who decided: an item of RFC 9651 (structured fields),
//   "<rule label>";limit="<limit in words>";remaining=<count>[;over][;store=<cause>;answer=<policy>]
// the last two where the store gave no answer and the policy stood in for it; with allow and deny without the limit,
// or, for a limit that came with the request, the token `override` in place of the label. In the texts `%` and bytes
// that are not printable ASCII stand as `%` and two hex digits; a label longer than kMaxLabelBytes ends in "...".
inline constexpr std::string_view kDeciderHeader = "x-penstock-limit";
inline constexpr std::size_t kMaxLabelBytes = 1'024;

// Of one request so much is told back in its dynamic metadata; descriptors beyond it are left out and counted in
// `descriptorsLeftOut`.
inline constexpr std::size_t kMaxDescribedEntries = 1'000;
inline constexpr std::size_t kMaxDescribedTextBytes = 64UL * 1024;

// Makes the extras of replies:
//   - three headers from the status that decided; none where nothing limits, and no reset where waiting never helps
//   - dynamic metadata as envoyproxy/ratelimit fills it: `domain`, `descriptors` with `entries`, `limit` and
//     `hitsAddend`, the request's `hitsAddend`, and `metadata`, joined of the rules of all descriptors that pass a
//     limit
//   - who decided, as kDeciderHeader and as `penstock` in the dynamic metadata: `rule`, `limit`, `remaining`, `over`,
//   and
//     `descriptor`, counted from 0. No value that a caller sent is in it.
// A verdict may come when its check is gone, so what the metadata tells of the request is kept from `note` on.
//
// Threading: Loop-owned. Cost: nothing where all options are off; else some allocations a reply.
class ReplyExtender {
 public:
  explicit ReplyExtender(ReplyOptions options);

  [[nodiscard]] bool active() const noexcept { return active_; }

  // To be called with checks before they are decided.
  void note(std::span<const limiter::Check> checks);

  // The extras of the reply to the check with this ticket. Requires: it was noted, is asked for once, and the verdict
  // has no error.
  [[nodiscard]] ReplyExtras extend(std::uint64_t ticket, const limiter::Verdict& verdict);

  // In place of `extend` for a check that gets no such reply.
  void drop(std::uint64_t ticket) { requests_.erase(ticket); }

 private:
  [[nodiscard]] rules::Metadata dynamic_metadata(std::uint64_t ticket, const limiter::Verdict& verdict);

  ReplyOptions options_;
  bool active_ = false;
  std::unordered_map<std::uint64_t, rules::Metadata::Map> requests_;  // by ticket; only with dynamic metadata
};

// Appends the extras to an encoded RateLimitResponse. Maps are written in the order of their keys.
void append_extras(const ReplyExtras& extras, std::string& out);

}  // namespace penstock::protocol
