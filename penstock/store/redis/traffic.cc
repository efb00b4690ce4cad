#include "penstock/store/redis/traffic.h"

namespace penstock::store::redis {

using algorithm::Cause;

void Traffic::count_unanswered(Cause cause, std::size_t charges) {
  switch (cause) {
    case Cause::timeout: return metrics.timeout_charges.add(charges);
    case Cause::refused: return metrics.refused_charges.add(charges);
    case Cause::readonly: return metrics.readonly_charges.add(charges);
    case Cause::overloaded: return metrics.overloaded_charges.add(charges);
    case Cause::breaker: return metrics.breaker_charges.add(charges);
    case Cause::script: return metrics.script_failures.add(charges);
    case Cause::none: return;
  }
}

Session* Traffic::redirect(const Reply& error) {
  bool asks = false;
  Session* const session = fleet.redirected(error, asks);
  if (session == nullptr || !asks) return session;
  append_command(session->commands(), "ASKING");
  session->sent(kAsking, 0);
  return session;
}

}  // namespace penstock::store::redis
