#include "penstock/server/admission.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace penstock::server {

bool Admission::enter(const Source& source, std::size_t open, Instant now) {
  if (open >= limits_.connections) {
    metrics_.refused_for_count.add();
    log(fmt::format("{} connections are open, which is the most (--max-connections)", open), now);
    return false;
  }
  if (!sources_.enter(source)) {
    metrics_.refused_for_address.add();
    log(fmt::format("one address has {} connections open, which is the most (--max-connections-per-address)",
                    limits_.connections_per_source),
        now);
    return false;
  }
  return true;
}

void Admission::log(const std::string& reason, Instant now) {
  const LogGate::Pass pass = gate_.pass(now);
  if (!pass.open) return;
  spdlog::warn("{}: a new one was closed ({} more since the last line)", reason, pass.suppressed);
}

}  // namespace penstock::server
