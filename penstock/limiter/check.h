#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "penstock/base/instant.h"
#include "penstock/rules/rule_set.h"

namespace penstock::limiter {

// A limit that comes with the request and stands in for the rules. The unit is the wire's number, checked when the
// domain is known, as in envoyproxy/ratelimit.
struct Override {
  std::uint32_t requests_per_unit = 0;
  std::int32_t unit = 0;
};

struct Descriptor {
  std::span<const rules::Entry> entries;
  std::optional<Override> limit;
  std::optional<std::uint64_t> hits;  // 0 only looks; absent: the check's
  bool negative_hits = false;         // give the hits back
};

// One request, as protocol-free structs. Views are borrowed until its verdict is given.
struct Check {
  std::string_view domain;
  std::span<const Descriptor> descriptors;
  std::uint32_t hits_addend = 0;  // 0 means 1
  Instant deadline = Instant::max();
  bool accepts_wait = false;  // the caller holds its work back for as long as the verdict says
  std::uint64_t ticket = 0;   // handed back with the verdict
};

}  // namespace penstock::limiter
