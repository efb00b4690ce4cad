#pragma once

#include <string_view>

#include "penstock/metrics/counter.h"

namespace penstock::metrics {

// The name under which a counter of the struct `Cells` is shown. Each such struct has a table of these beside it, and
// asserts that it names all of them.
template <class Cells>
struct Named {
  std::string_view name;
  Counter Cells::* cell;
};

}  // namespace penstock::metrics
