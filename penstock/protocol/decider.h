#pragma once

#include <string>
#include <string_view>

#include "penstock/limiter/verdict.h"

namespace penstock::protocol {

// "<label>" as Rule::label, or "override". Requires: the status has a limit.
[[nodiscard]] std::string decider_label(const limiter::Status& status);

// The limit in words. Requires: the status has a limit.
[[nodiscard]] std::string decider_limit(const limiter::Status& status);

// The status that decided, else the first that was answered in place of its store, of which no limit is known. Null:
// there is none.
[[nodiscard]] const limiter::Status* decider_of(const limiter::Verdict& verdict);

// The value of kDeciderHeader. Requires: the status is one of `decider_of`.
[[nodiscard]] std::string decider_item(const limiter::Status& status);

// A text as an RFC 9651 string: in quotes, `"` and `\` escaped, `%` and what is not printable ASCII percent-encoded.
[[nodiscard]] std::string structured_string(std::string_view text);

}  // namespace penstock::protocol
