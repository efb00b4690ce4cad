#include "penstock/algorithm/algorithm.h"

#include "penstock/algorithm/fixed_window.h"
#include "penstock/algorithm/gcra.h"
#include "penstock/algorithm/steps.h"
#include "penstock/base/check.h"

namespace penstock::algorithm {

Step apply(const Limit& limit, State state, const Ask& ask, LogPlaces places) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::fixed_window: return fixed_window::apply(limit, state, ask);
    case Algorithm::gcra:
    case Algorithm::token_bucket:
    case Algorithm::leaky_bucket: return gcra::apply(limit, state, ask);
    case Algorithm::sliding_window: return sliding_window::apply(limit, state, ask);
    case Algorithm::sliding_log: return sliding_log::apply(limit, state, ask, places);
  }
  __builtin_unreachable();
}

Instant fresh_at(const Limit& limit, State state, LogPlaces places) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::fixed_window: return fixed_window::fresh_at(limit, state);
    case Algorithm::gcra:
    case Algorithm::token_bucket:
    case Algorithm::leaky_bucket: return gcra::fresh_at(limit, state);
    case Algorithm::sliding_window: return sliding_window::fresh_at(limit, state);
    case Algorithm::sliding_log: return sliding_log::fresh_at(limit, state, places);
  }
  __builtin_unreachable();
}

std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept {
  PENSTOCK_DCHECK(limit.is_bucket());
  return gcra::used_share(limit, state, now);
}

State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::fixed_window: return fixed_window::rebuild(limit, fresh_at, now);
    case Algorithm::gcra:
    case Algorithm::token_bucket:
    case Algorithm::leaky_bucket: return gcra::rebuild(limit, fresh_at, now);
    case Algorithm::sliding_window: return sliding_window::rebuild(limit, fresh_at, now);
    case Algorithm::sliding_log: return {};
  }
  __builtin_unreachable();
}

}  // namespace penstock::algorithm
