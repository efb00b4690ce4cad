#pragma once

#include "penstock/algorithm/decision.h"
#include "penstock/store/redis/resp.h"

namespace penstock::store::redis {

// What an error reply means to whoever sent the command. None of them is for good: where the connection is left, the
// next one may be better; else the next command may be. An error reply says that nothing was executed.
//   READONLY               a replica: leave, and look for the primary
//   LOADING, MASTERDOWN    not yet: leave
//   NOAUTH, WRONGPASS      leave, and log in with the password as it is then
//   NOSCRIPT               the script is sent with its text
//   MOVED, ASK             another node has the slot (clusters)
//   OOM, BUSY, NOPERM, MISCONF, NOREPLICAS, CLUSTERDOWN, TRYAGAIN   refused, this time
//   WRONGTYPE, ERR         script: the key holds what is not ours, or the script could not run
struct Failure {
  algorithm::Cause cause = algorithm::Cause::refused;
  bool leave = false;
  bool script_missing = false;
  bool look_again = false;  // at which node has what
};

[[nodiscard]] Failure failure_of(const Reply& reply) noexcept;

}  // namespace penstock::store::redis
