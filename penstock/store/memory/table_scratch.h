#pragma once

#include <array>
#include <cstdint>

#include "penstock/store/group.h"

namespace penstock::store {

// By number of the charge in its batch, modulo the size.
using LikelyBuckets = std::array<std::uint32_t, 16>;

// The room that deciding takes beside the table; kept for reuse by whoever calls.
struct TableScratch {
  GroupSheet sheet;
  std::array<std::uint32_t, 2 * Group::kMaxCharges> buckets = {};
  LikelyBuckets likely = {};
};

}  // namespace penstock::store
