#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/error.h"
#include "penstock/base/instant.h"
#include "penstock/limiter/check.h"
#include "penstock/limiter/verdict.h"

// A file of tests of rules, as `penstock test` reads it. docs/rule-tests.md is the format's description.

namespace penstock::trial {

struct Descriptor {
  std::vector<std::pair<std::string, std::string>> entries;
  std::optional<limiter::Override> limit;
  std::optional<std::uint64_t> hits;
};

// What an answer has to be, of the whole or of one descriptor. What is absent may be anything.
struct Expected {
  Place place;
  std::optional<limiter::Code> code;
  std::optional<std::uint32_t> remaining;
  std::optional<Nanoseconds> retry_after;  // the exact wait of a refusal; 0 where it passes
  std::optional<std::int64_t> reset;       // duration_until_reset, in seconds
  std::optional<std::string> limit;        // path or name of the deciding rule; "none"
  std::optional<std::uint64_t> ok, over;   // of the step's `times`: how many pass, how many are refused
  std::vector<Expected> statuses;          // of the descriptors, in order; empty: anything
};

struct Step {
  Place place;
  Nanoseconds at{0};  // since the test's start
  std::string domain;
  std::vector<Descriptor> descriptors;
  std::uint64_t hits = 1;
  bool refund = false;
  std::uint64_t times = 1;
  Expected expected;
};

struct Case {
  Place place;
  std::string name;
  Instant start;
  std::vector<Step> steps;
};

struct CaseFile {
  std::vector<std::pair<std::string, Place>> rules;  // paths, relative to the file
  bool merge_domains = false;
  bool shadow_mode = false;
  bool quota_mode = false;
  bool spare_others = false;
  std::vector<Case> tests;
};

inline constexpr std::uint64_t kMaxChecks = 1'000'000;  // of one file: the sum of `times` of all steps

// The start of a test that names none: the first instant of a month, an hour and a Sunday.
inline constexpr Instant kDefaultStart = instant_from_unix_seconds(1'748'736'000);  // 2025-06-01T00:00:00Z

// Reads a file of tests. Errors: every mistake of the file, each with its place, the value and what would be accepted.
[[nodiscard]] ResultOrAll<CaseFile> read_cases(std::string_view text, const std::string& file);

}  // namespace penstock::trial
