#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "penstock/rules/rule_set.h"
#include "penstock/server/admission.h"
#include "penstock/server/clock.h"
#include "penstock/server/event_loop.h"
#include "penstock/server/listener.h"
#include "penstock/store/memory/table.h"

namespace penstock::server {

struct StatsSources {
  std::span<const std::unique_ptr<EventLoop>> loops;
  const rules::RuleSet& rules;  // those that all loops were made with
  const store::Table& table;
  Instant now;
  const Admission& admission;
  const WallOffset& clock;
  std::uint64_t accept_failures;
  std::chrono::seconds uptime;
  std::uint64_t debug_accept_failures = 0;
  std::uint64_t debug_connections_refused = 0;
};

// Every counter of the process, summed over its loops: a line "penstock_... value" each, sorted. Values are read while
// they are written, so sums may disagree by what happens in that moment.
[[nodiscard]] std::string stats_page(const StatsSources& sources);

}  // namespace penstock::server
