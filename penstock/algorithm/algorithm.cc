#include "penstock/algorithm/algorithm.h"

#include "penstock/algorithm/steps.h"

namespace penstock::algorithm {

Step apply(const Limit& limit, Verb verb, State state, Instant now, std::uint64_t cost, Instant charged_at) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::fixed_window: return fixed_window::apply(limit, verb, state, now, cost, charged_at);
    case Algorithm::gcra: return gcra::apply(limit, verb, state, now, cost, charged_at);
  }
  __builtin_unreachable();
}

Instant fresh_at(const Limit& limit, State state) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::fixed_window: return fixed_window::fresh_at(limit, state);
    case Algorithm::gcra: return gcra::fresh_at(limit, state);
  }
  __builtin_unreachable();
}

std::uint8_t used_share(const Limit& limit, State state, Instant now) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::fixed_window: return fixed_window::used_share(limit, state, now);
    case Algorithm::gcra: return gcra::used_share(limit, state, now);
  }
  __builtin_unreachable();
}

State rebuild(const Limit& limit, Instant fresh_at, Instant now) noexcept {
  switch (limit.algorithm()) {
    case Algorithm::fixed_window: return fixed_window::rebuild(limit, fresh_at, now);
    case Algorithm::gcra: return gcra::rebuild(limit, fresh_at, now);
  }
  __builtin_unreachable();
}

}  // namespace penstock::algorithm
