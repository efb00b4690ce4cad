#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "penstock/algorithm/decision.h"
#include "penstock/base/error.h"
#include "penstock/base/instant.h"
#include "penstock/rules/rule.h"

namespace penstock::limiter {

// The numbers are those of RateLimitResponse.Code.
enum class Code : std::uint8_t { ok = 1, over_limit = 2 };

// The answer to one descriptor.
struct Status {
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

  Code code = Code::ok;
  std::uint32_t remaining = 0;  // kUnlimited for an unlimited rule
  // What is told as `duration_until_reset`, whole seconds rounded up; absent where there is no limit, and where waiting
  // does not help, but for fixed windows, which tell their end whatever was decided.
  std::optional<std::int64_t> reset_seconds;
  Nanoseconds wait{0};                      // see Verdict::wait; of this descriptor
  const rules::Rule* rule = nullptr;        // null: none, or an override
  const rules::RuleLimit* limit = nullptr;  // the limit that decided; null: none
  algorithm::Decision decision;             // of that limit
  // What was answered in place of the store, which gave no answer for `decision.cause`; nothing: the store decided.
  // With allow and deny there is no `limit`, since nothing is known of it.
  std::optional<rules::OnStoreFailure> degraded = std::nullopt;
};

// The answer to one check. Everything it points to is valid until `VerdictSink::on_verdict` returns.
struct Verdict {
  Code overall = Code::ok;
  std::span<const Status> statuses;  // one a descriptor, in order
  // The status to tell a caller who takes only one, and so the rule and the limit that decided the whole: the last one
  // over its limit outside of quota mode, else of those with a limit the first with the least remaining. Null: no
  // limit.
  const Status* deciding = nullptr;
  // How long to hold the work back that was admitted: the longest of its limits. 0 where the check is over its limit,
  // and for callers that do not accept a wait.
  Nanoseconds wait{0};
  const Error* error = nullptr;  // set: the check has no answer but this
};

class VerdictSink {
 public:
  virtual void on_verdict(std::uint64_t ticket, const Verdict& verdict) = 0;

 protected:
  ~VerdictSink() = default;
};

}  // namespace penstock::limiter
