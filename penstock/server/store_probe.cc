#include "penstock/server/store_probe.h"

#include <algorithm>
#include <chrono>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "penstock/server/clock.h"
#include "penstock/server/shared_store.h"

namespace penstock::server {
namespace {

// Whether INCRBY alone counts it.
bool is_plain_window(const rules::Rule& rule) {
  if (rule.limits.size() > 1) return false;
  const algorithm::Limit& limit = rule.limits.front().limit;
  return limit.algorithm() == algorithm::Algorithm::fixed_window && limit.counts_refused() && !limit.spreads_windows();
}

bool is_in(const rules::RuleLimit& limit, const SharedStoreSettings& store, bool seconds_apart) {
  if (limit.tier == rules::Tier::local) return false;
  const bool plain_second = limit.store.empty() && limit.unit == rules::Unit::second;
  if (plain_second && seconds_apart) return store.per_second;
  return !store.per_second && limit.store == store.name;
}

const rules::Rule* rule_that_needs_scripts(const rules::RuleSet& rules, const SharedStoreSettings& store,
                                           bool seconds_apart) {
  for (const auto& rule : rules.rules()) {
    if (rule->limits.empty() || is_plain_window(*rule)) continue;
    for (const rules::RuleLimit& limit : rule->limits) {
      if (is_in(limit, store, seconds_apart)) return rule.get();
    }
  }
  return nullptr;
}

Result<bool> probe(const SharedStoreSettings& settings, const rules::RuleSet& rules, bool seconds_apart) {
  std::shared_ptr<boost::asio::ssl::context> tls;
  if (settings.redis.endpoints.front().tls) {
    auto made = tls_context(settings.tls);
    if (!made) return std::unexpected{made.error()};
    tls = std::move(*made);
  }
  boost::asio::io_context io{1};
  const WallOffset clock{read_monotonic(), read_wall()};
  SharedStore store{io, clock, settings, tls, nullptr, {}};
  store.start();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{kProbeSeconds};
  while (!store.redis().ready() && io.run_one_until(end) > 0) {
  }
  const bool ready = store.redis().ready();
  const std::string refusal = store.redis().script_refusal(), failure = store.redis().last_failure();
  store.stop();
  io.run_for(std::chrono::milliseconds{100});  // what was begun comes back
  if (!ready) {
    spdlog::warn(
        "the store {} is not to be had: {}; it is looked for meanwhile, and its limits answer as "
        "on_store_failure says",
        settings.address, failure.empty() ? "no answer yet" : failure);
    return false;
  }
  const rules::Rule* const rule = refusal.empty() ? nullptr : rule_that_needs_scripts(rules, settings, seconds_apart);
  if (rule == nullptr) return true;
  return fail(ErrorCode::failed_precondition,
              fmt::format("the store {} does not let its user run scripts, which rule '{}' needs: it says '{}'; give "
                          "that user +script|load, +evalsha and +eval (ACL SETUSER), or use fixed_window",
                          settings.address, rule->label, refusal));
}

}  // namespace

Result<bool> probe_stores(const ServerSettings& settings, const rules::RuleSet& rules) {
  bool all_there = true;
  const bool seconds_apart = std::ranges::any_of(settings.shared_stores, &SharedStoreSettings::per_second);
  for (const SharedStoreSettings& store : settings.shared_stores) {
    const auto probed = probe(store, rules, seconds_apart);
    if (!probed) return probed;
    all_there = all_there && *probed;
  }
  return all_there;
}

}  // namespace penstock::server
