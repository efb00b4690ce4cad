#include "penstock/server/admission.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace penstock::server {

bool Admission::enter(const Source& source, const Open& open, Instant now) {
  if (open.all >= limits_.connections) {
    metrics_.refused_for_count.add();
    log(fmt::format("{} connections are open, which is the most (--max-connections)", open.all), now);
    return false;
  }
  if (open.on_port >= most_on_one_port(limits_.connections)) {
    metrics_.refused_for_port.add();
    log(fmt::format("{} connections are open on one port, which is its part of {} (--max-connections)", open.on_port,
                    limits_.connections),
        now);
    return false;
  }
  if (!sources_.enter(source)) {
    metrics_.refused_for_address.add();
    log(fmt::format("one address has {} connections open, which is the most (--max-connections-per-address)",
                    sources_.most()),
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
