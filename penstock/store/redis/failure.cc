#include "penstock/store/redis/failure.h"

#include <string_view>

namespace penstock::store::redis {

using algorithm::Cause;

Failure failure_of(const Reply& reply) noexcept {
  if (!reply.is_error()) return {.cause = Cause::script};
  const std::string_view code = reply.error_code();
  const std::string_view text = reply.text;
  // Redis 6 says ERR of whatever a script ran into, and then what it was.
  const auto says = [&](std::string_view word) {
    return code == word || (code == "ERR" && text.find(std::string{"-"}.append(word)) != std::string_view::npos);
  };
  if (says("READONLY")) return {.cause = Cause::readonly, .leave = true, .look_again = true};
  if (says("NOSCRIPT")) return {.cause = Cause::script, .script_missing = true};
  if (says("OOM") || says("MISCONF") || says("NOREPLICAS")) return {};
  if (says("LOADING") || says("MASTERDOWN") || says("NOAUTH") || says("WRONGPASS")) return {.leave = true};
  if (code == "CLUSTERDOWN" || code == "MOVED" || code == "ASK" || code == "TRYAGAIN") return {.look_again = true};
  if (code == "BUSY" || code == "NOPERM") return {};
  return {.cause = Cause::script};
}

}  // namespace penstock::store::redis
