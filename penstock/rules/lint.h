#pragma once

#include <string>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/rules/draft.h"
#include "penstock/rules/findings.h"
#include "penstock/rules/tree.h"

// What loads, but is surely not meant. Every finding is a warning with its place and what to do. What a single value or
// field tells is said where that is read; here is what follows from several.

namespace penstock::rules {

// Fields of one file that do nothing where they stand, and a burst that is a whole hour's worth because nobody gave
// one. Cost: linear.
void lint_file(const FileDraft& file, Findings& findings);

// A name in `replaces`, and where it stands.
struct ReplacedName {
  std::string domain;
  std::string name;
  Place place;
};

// Rules that can never match because another one takes everything that they would, names in `replaces` that no rule of
// their domain has, and wildcards of several files whose order decides between them. Requires: finished levels.
// Cost: a look-up a wildcard; of wildcards in several files at most kMaxComparedPairs are compared.
inline constexpr std::size_t kMaxComparedPairs = 10'000;
void lint_set(const Compiled& rules, const std::vector<ReplacedName>& replaced, Findings& findings);

}  // namespace penstock::rules
