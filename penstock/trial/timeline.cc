#include "penstock/trial/timeline.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "penstock/trial/cases.h"
#include "penstock/trial/explanation.h"
#include "penstock/trial/rehearsal.h"
#include "penstock/trial/time_text.h"

namespace penstock::trial {
namespace {

constexpr std::size_t kBarWidth = 50;

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count == 0 || count > kMaxRequests)
    return std::nullopt;
  return count;
}

std::optional<std::int64_t> unit_nanoseconds(std::string_view unit) {
  if (unit == "s") return 1'000'000'000;
  if (unit == "m") return 60'000'000'000;
  if (unit == "h") return 3'600'000'000'000;
  return std::nullopt;
}

std::unexpected<Error> no_load(std::string_view word) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("'{}' is neither an entry nor a load; accepted is {}", word, kLoadForms));
}

// Appends the requests of one load; `begin` moves to where the next may begin. False if the word is none.
bool add_load(std::string_view word, Nanoseconds& begin, std::vector<Nanoseconds>& at) {
  const std::size_t sign = word.find('@');
  const std::optional<std::uint64_t> count = parse_count(word.substr(0, sign));
  if (sign == std::string_view::npos || !count || at.size() + *count > kMaxRequests) return false;
  const std::string_view rate = word.substr(sign + 1);
  if (rate == "once") {
    at.insert(at.end(), *count, begin);
    return true;
  }
  const std::size_t slash = rate.find('/');
  if (slash == std::string_view::npos) return false;
  const std::optional<std::uint64_t> requests = parse_count(rate.substr(0, slash));
  const std::optional<std::int64_t> unit = unit_nanoseconds(rate.substr(slash + 1));
  if (!requests || !unit) return false;
  __extension__ using Wide = __int128;
  const auto after = [&](std::uint64_t i) {
    return Nanoseconds{static_cast<std::int64_t>(Wide{*unit} * i / *requests)};
  };
  if (Wide{*unit} * *count / *requests > (kLongest - begin).count()) return false;
  for (std::uint64_t i = 0; i < *count; ++i) at.push_back(begin + after(i));
  begin += after(*count);
  return true;
}

// The shortest round length that keeps the table short.
Nanoseconds interval_for(Nanoseconds duration) {
  for (std::int64_t power = 1'000'000; power <= kLongest.count(); power *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (duration.count() / (power * factor) < static_cast<std::int64_t>(Timeline::kMaxIntervals)) {
        return Nanoseconds{power * factor};
      }
    }
  }
  return kLongest;
}

std::string bar(const Timeline::Interval& interval, std::uint64_t most) {
  const std::uint64_t all = interval.admitted + interval.refused;
  const auto width = [&](std::uint64_t count) {
    return static_cast<std::size_t>((count * kBarWidth + most - 1) / most);
  };
  const std::size_t whole = width(all);
  const std::size_t admitted = interval.refused == 0 ? whole : std::min(width(interval.admitted), whole - 1);
  return std::string(admitted, '#') + std::string(whole - admitted, '.');
}

}  // namespace

Result<Load> parse_load(std::string_view text) {
  Load load;
  Nanoseconds begin{0};
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && equals > 0 && load.at.empty()) {
      load.entries.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    } else if (word.starts_with("wait:")) {
      const std::optional<Nanoseconds> wait = parse_time(word.substr(5));
      if (!wait || *wait > kLongest - begin) return no_load(word);
      begin += *wait;
    } else if (!add_load(word, begin, load.at)) {
      return no_load(word);
    }
  }
  if (load.entries.empty() || load.at.empty()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}; accepted is {}", load.entries.empty() ? "no entry" : "no load", kLoadForms));
  }
  return load;
}

Result<Timeline> run_load(const std::shared_ptr<const rules::RuleSet>& rules, std::string_view domain,
                          const Load& load) {
  if (rules->domain(domain) == nullptr) {
    return fail(ErrorCode::not_found, fmt::format("no rules for domain '{}'", domain));
  }
  auto node = Rehearsal::open(rules, {.counter_key = {.k0 = 1, .k1 = 2}});
  if (!node) return std::unexpected{node.error()};
  std::vector<rules::Entry> entries;
  entries.reserve(load.entries.size());
  for (const auto& [key, value] : load.entries) entries.push_back({.key = key, .value = value});
  const limiter::Descriptor descriptor{.entries = entries};
  const limiter::Check check{.domain = domain, .descriptors = {&descriptor, 1}};

  Timeline timeline;
  timeline.duration = load.at.back();
  timeline.interval = interval_for(timeline.duration);
  for (const Nanoseconds at : load.at) {
    const Answer answer = node->ask(check, kDefaultStart + at);
    if (answer.error) return std::unexpected{*answer.error};
    const Nanoseconds begin = at - at % timeline.interval;
    if (timeline.intervals.empty() || timeline.intervals.back().begin != begin)
      timeline.intervals.push_back({.begin = begin});
    const bool admitted = answer.overall == limiter::Code::ok;
    ++(admitted ? timeline.admitted : timeline.refused);
    ++(admitted ? timeline.intervals.back().admitted : timeline.intervals.back().refused);
    const limiter::Status& status = answer.statuses.front();
    timeline.decided = explain(status);
    if (admitted) continue;
    if (timeline.first_refused < Nanoseconds{0}) timeline.first_refused = at;
    timeline.longest_wait = std::max(timeline.longest_wait, status.decision.retry_after);
  }
  return timeline;
}

std::string draw(const Timeline& timeline) {
  std::uint64_t most = 1;
  for (const Timeline::Interval& interval : timeline.intervals)
    most = std::max(most, interval.admitted + interval.refused);
  std::string text = fmt::format("{:>12}  {:>8}  {:>8}  # admitted, . refused, {} a line\n", "time", "admitted",
                                 "refused", to_text(timeline.interval));
  for (const Timeline::Interval& interval : timeline.intervals) {
    text += fmt::format("{:>12}  {:>8}  {:>8}  {}\n", to_text(interval.begin), interval.admitted, interval.refused,
                        bar(interval, most));
  }
  text += fmt::format("{} of {} admitted within {}", timeline.admitted, timeline.admitted + timeline.refused,
                      to_text(timeline.duration));
  if (timeline.refused > 0) {
    text += fmt::format("; first refused at {}", to_text(timeline.first_refused));
    text += timeline.longest_wait > Nanoseconds{0}
                ? fmt::format(", longest wait told {}", to_text(timeline.longest_wait))
                : std::string{", and no wait would help"};
  }
  return text + fmt::format("\nat the end: {}\n", timeline.decided);
}

}  // namespace penstock::trial
