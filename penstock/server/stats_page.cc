#include "penstock/server/stats_page.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "penstock/algorithm/decision.h"
#include "penstock/metrics/named.h"
#include "penstock/protocol/debug_pages.h"

namespace penstock::server {
namespace {

using protocol::Figure;

class Figures {
 public:
  explicit Figures(std::span<const std::unique_ptr<EventLoop>> loops) : loops_{loops} {}

  void add(std::string name, std::uint64_t value) { all_.push_back({"penstock_" + std::move(name), value}); }

  // One figure for each counter that `names` has, of the structs that `of` finds in each loop.
  template <class Names, class Of>
  void add_sums(std::string_view prefix, const Names& names, const Of& of) {
    for (const auto& [name, cell] : names) add(fmt::format("{}_{}", prefix, name), sum(cell, of));
  }

  void add_rule(const rules::Rule& rule) {
    for (const auto& [name, cell] : limiter::kRuleCounters) {
      const std::uint64_t value =
          sum(cell, [&rule](const EventLoop& loop) -> const auto& { return loop.statistics().rules[rule.index]; });
      add(protocol::labelled(fmt::format("rule_{}", name), "rule", rule.path), value);
    }
  }

  // Decisions that stores did not make, by cause and by what was answered; those that never happened are left out.
  void add_degraded() {
    for (std::size_t cause = 1; cause < algorithm::kCauses.size(); ++cause) {
      for (std::size_t policy = 0; policy < rules::kOnStoreFailures; ++policy) {
        std::uint64_t value = 0;
        for (const auto& loop : loops_) value += loop->statistics().degraded.decisions[cause][policy].value();
        add(fmt::format("degraded_{}_{}", algorithm::kCauses[cause],
                        to_string(static_cast<rules::OnStoreFailure>(policy))),
            value);
      }
    }
  }

  void add_stores() {
    const std::size_t stores = loops_.empty() ? 0 : loops_.front()->shared_stores().size();
    for (std::size_t i = 0; i < stores; ++i) add_store(i);
    if (stores == 0) return;
    std::uint64_t divided = 0, given_back = 0;
    for (const auto& loop : loops_) {
      divided += loop->tiered()->divided().value();
      given_back += loop->tiered()->given_back().value();
    }
    add("groups_divided", divided);
    add("charges_given_back", given_back);
  }

  [[nodiscard]] std::vector<Figure> take() { return std::move(all_); }

 private:
  void add_store(std::size_t i) {
    const std::string& label = loops_.front()->shared_stores()[i]->label();
    const auto name = [&](std::string_view what) {
      return protocol::labelled(fmt::format("store_{}", what), "store", label);
    };
    for (const auto& [what, cell] : store::redis::kRedisMetrics) {
      std::uint64_t value = 0;
      for (const auto& loop : loops_) value += (loop->shared_stores()[i]->redis().metrics().*cell).value();
      add(name(what), value);
    }
    std::uint64_t hits = 0, kept = 0;
    for (const auto& loop : loops_) {
      const store::DeniedStore* const denied = loop->shared_stores()[i]->denied();
      if (denied == nullptr) continue;
      hits += denied->hits().value();
      kept += denied->kept().value();
    }
    add(name("denied_hits"), hits);
    add(name("denied_kept"), kept);
  }

  template <class Cell, class Of>
  [[nodiscard]] std::uint64_t sum(Cell cell, const Of& of) const {
    std::uint64_t sum = 0;
    for (const auto& loop : loops_) sum += (of(*loop).*cell).value();
    return sum;
  }

  std::span<const std::unique_ptr<EventLoop>> loops_;
  std::vector<Figure> all_;
};

// Those that expired and were not replaced yet are among them.
std::uint64_t counters_held(std::span<const std::unique_ptr<EventLoop>> loops) {
  std::uint64_t in = 0, out = 0;
  for (const auto& loop : loops) {
    const store::MemoryStoreMetrics& metrics = loop->store_metrics();
    out += metrics.expired.value() + metrics.evicted.value() + metrics.emptied.value();
    in += metrics.inserted.value();
  }
  return in > out ? in - out : 0;
}

}  // namespace

std::string stats_page(const StatsSources& sources) {
  Figures figures{sources.loops};
  figures.add("uptime_seconds", static_cast<std::uint64_t>(sources.uptime.count()));
  figures.add("event_loops", sources.loops.size());
  figures.add("clock_steps", sources.clock.steps());
  figures.add("accept_failures", sources.accept_failures);
  figures.add("debug_accept_failures", sources.debug_accept_failures);
  figures.add("debug_connections_refused", sources.debug_connections_refused);
  std::size_t connections = 0;
  for (const auto& loop : sources.loops) connections += loop->connections();
  figures.add("connections_open", connections);
  figures.add("connections_most", sources.admission.most());
  std::uint64_t cut_for_memory = 0;
  for (const auto& loop : sources.loops) cut_for_memory += loop->cut_for_memory().value();
  figures.add("connections_cut_for_memory", cut_for_memory);
  for (const auto& [name, cell] : kAdmissionMetrics) {
    figures.add(fmt::format("connections_{}", name), (sources.admission.metrics().*cell).value());
  }
  figures.add("table_counters", counters_held(sources.loops));
  figures.add("table_live", sources.table.live_counters(sources.now));
  figures.add("table_capacity_keys", sources.table.capacity_keys());
  figures.add("table_bytes", sources.table.memory_bytes());
  figures.add("table_huge_pages", sources.table.page_size() == store::PageSize::huge ? 1 : 0);

  using Loop = const EventLoop&;
  figures.add_sums("grpc_connections", kConnectionMetrics, [](Loop loop) -> auto& { return loop.grpc_connections(); });
  figures.add_sums("http_connections", kConnectionMetrics, [](Loop loop) -> auto& { return loop.http_connections(); });
  figures.add_sums("http2", transport::kHttp2Metrics, [](Loop loop) -> auto& { return loop.http2(); });
  figures.add_sums("http1", transport::kHttp1Metrics, [](Loop loop) -> auto& { return loop.http1(); });
  figures.add_sums("grpc", protocol::kGrpcEndpointMetrics, [](Loop loop) -> auto& { return loop.grpc(); });
  figures.add_sums("http", protocol::kHttpEndpointMetrics, [](Loop loop) -> auto& { return loop.http(); });
  figures.add_sums("limiter", limiter::kStatistics, [](Loop loop) -> auto& { return loop.statistics(); });
  figures.add_sums("table", store::kMemoryStoreMetrics, [](Loop loop) -> auto& { return loop.store_metrics(); });
  figures.add_degraded();
  figures.add_stores();
  for (const auto& rule : sources.rules.rules()) figures.add_rule(*rule);
  return protocol::list_figures(figures.take());
}

}  // namespace penstock::server
