#pragma once

#include <optional>
#include <string>

namespace penstock::protocol {

// The names of three headers that tell limit, remaining, and seconds until the reset. A name may be empty, as in
// envoyproxy/ratelimit.
struct HeaderNames {
  std::string limit = "RateLimit-Limit";
  std::string remaining = "RateLimit-Remaining";
  std::string reset = "RateLimit-Reset";
};

// What replies hold beyond codes and statuses. All off: nothing more, and nothing allocated for it.
struct ReplyOptions {
  std::optional<HeaderNames> response_headers;  // for who is answered (response_headers_to_add)
  std::optional<HeaderNames> request_headers;   // for the service behind the proxy (request_headers_to_add)
  bool dynamic_metadata = false;                // the request and the metadata of the rules that let it pass
  // Who decided: rule and limit of Verdict::deciding, values hashed.
  bool decider_header = false;    // `x-penstock-limit`, among the response headers
  bool decider_metadata = false;  // `penstock` in the dynamic metadata

  [[nodiscard]] bool any_dynamic_metadata() const noexcept { return dynamic_metadata || decider_metadata; }
};

}  // namespace penstock::protocol
