#include "penstock/rules/limit_maker.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/algorithm/sliding_log.h"
#include "penstock/rules/description.h"
#include "penstock/rules/duration.h"
#include "penstock/rules/fields.h"
#include "penstock/rules/rate_maker.h"

namespace penstock::rules {
namespace {

using algorithm::Algorithm;
using algorithm::is_bucket;
using algorithm::is_window;

constexpr std::array kAlgorithms{Algorithm::fixed_window, Algorithm::sliding_window, Algorithm::sliding_log,
                                 Algorithm::token_bucket, Algorithm::leaky_bucket,   Algorithm::gcra};
constexpr std::string_view kPerKey = "per_key";

bool is_shaper(Algorithm algorithm) { return algorithm == Algorithm::leaky_bucket; }

std::vector<std::string_view> algorithms_that(bool (*fit)(Algorithm)) {
  std::vector<std::string_view> names;
  for (const Algorithm algorithm : kAlgorithms) {
    if (fit(algorithm)) names.push_back(to_string(algorithm));
  }
  return names;
}

std::optional<Algorithm> read_algorithm(const LimitDraft& draft, Findings& findings) {
  if (draft.algorithm.broken) return std::nullopt;
  if (!draft.algorithm.stated) return Algorithm::fixed_window;
  const std::string& text = draft.algorithm.value;
  for (const Algorithm algorithm : kAlgorithms) {
    if (text == to_string(algorithm)) return algorithm;
  }
  const std::vector<std::string_view> all = algorithms_that([](Algorithm) { return true; });
  findings.error(draft.algorithm.mark, fmt::format("unknown algorithm {}{}", in_quotes(text), meant(text, all)));
  return std::nullopt;
}

// Fields that not every algorithm has a use for.
class Meaning {
 public:
  Meaning(Algorithm algorithm, Findings& findings) : algorithm_{algorithm}, findings_{findings} {}

  void expect(Field field, bool given, yaml::Mark mark, bool (*has_meaning)(Algorithm)) {
    if (!given || has_meaning(algorithm_)) return;
    fine_ = false;
    findings_.error(mark, fmt::format("'{}' has no meaning for {}; accepted with {}", to_string(field),
                                      to_string(algorithm_), fmt::join(algorithms_that(has_meaning), ", ")));
  }

  [[nodiscard]] bool fine() const { return fine_; }

 private:
  Algorithm algorithm_;
  Findings& findings_;
  bool fine_ = true;
};

bool check_meaning(const LimitDraft& draft, Algorithm algorithm, Findings& findings) {
  Meaning meaning{algorithm, findings};
  meaning.expect(Field::burst, draft.rate.burst.stated, draft.rate.burst.mark, is_bucket);
  meaning.expect(Field::peak, draft.peak.has_value(), draft.peak ? draft.peak->mark : yaml::Mark{}, is_bucket);
  meaning.expect(Field::max_wait, draft.max_wait.stated, draft.max_wait.mark, is_shaper);
  meaning.expect(Field::window_offset, draft.window_offset.stated, draft.window_offset.mark, is_window);
  return meaning.fine();
}

// Whether the amount suits the algorithm.
bool check_amount(const RateDraft& draft, Algorithm algorithm, Findings& findings) {
  const std::uint32_t amount = draft.requests_per_unit.value;
  if (algorithm == Algorithm::sliding_log && amount > algorithm::kMaxLogAmount) {
    findings.error(draft.requests_per_unit.mark,
                   fmt::format("'requests_per_unit' is {}; accepted is 1 to {} for sliding_log, which remembers every "
                               "hit; sliding_window takes any number",
                               amount, algorithm::kMaxLogAmount));
    return false;
  }
  if (!is_window(algorithm)) return check_positive(draft, to_string(algorithm), findings);
  if (draft.requests_per_unit.broken) return false;
  if (!draft.requests_per_unit.stated) {
    findings.warning(draft.mark, "no 'requests_per_unit': this limit refuses every hit");
  }
  return true;
}

// The peak as configured, its length in seconds beside it.
struct MadePeak {
  Peak stated;
  algorithm::PeakOptions options;
};

std::optional<MadePeak> read_peak(const RateDraft& draft, Findings& findings) {
  const std::optional<Time> time = read_time(draft, findings);
  if (!check_positive(draft, "a peak", findings) || draft.burst.broken || !time) return std::nullopt;
  const std::uint32_t amount = draft.requests_per_unit.value;
  return MadePeak{
      .stated = {.unit = time->unit,
                 .unit_multiplier = time->multiplier,
                 .requests_per_unit = amount,
                 .burst = burst_of(draft)},
      .options = {.amount = amount, .window_seconds = time->seconds, .burst = burst_of(draft)},
  };
}

// Nothing where it is broken.
std::optional<Nanoseconds> read_max_wait(const Stated<std::string>& text, Findings& findings) {
  if (text.broken) return std::nullopt;
  if (!text.stated) return Nanoseconds{0};
  const std::optional<Nanoseconds> wait = parse_duration(text.value);
  if (wait && *wait <= algorithm::Limit::kMaxWait) return wait;
  findings.error(text.mark,
                 fmt::format("'max_wait' is {}; accepted is a whole number with its unit, as in {}, up to {}",
                             in_quotes(text.value), kDurationForms, to_text(algorithm::Limit::kMaxWait)));
  return std::nullopt;
}

bool check_offset(const Stated<std::string>& text, Findings& findings) {
  if (!text.stated || text.value == kPerKey) return !text.broken;
  findings.error(text.mark, fmt::format("'window_offset' is {}; accepted is {}", in_quotes(text.value), kPerKey));
  return false;
}

// A rate that the other one never lets decide is not what anybody meant.
void compare_peak(const RuleLimit& limit, const MadePeak& peak, yaml::Mark mark, Findings& findings) {
  __extension__ using Wide = __int128;
  const Wide own = Wide{limit.requests_per_unit} * peak.options.window_seconds;
  const Wide peaks = Wide{peak.options.amount} * limit.limit.window_seconds();
  if (peaks >= own && peak.options.burst >= limit.burst) {
    findings.warning(mark, "the peak never decides: neither its rate nor its burst is less than the limit's own");
  } else if (own >= peaks && limit.burst >= peak.options.burst) {
    findings.warning(mark,
                     "only the peak ever decides: neither the limit's rate nor its burst is less than the peak's");
  }
}

// A fixed window that is alone is the original's, which counts refused hits as well.
bool counts_refused(const LimitDraft& draft, Algorithm algorithm, bool from_list) {
  if (draft.count_refused.stated) return draft.count_refused.value;
  return algorithm == Algorithm::fixed_window && !from_list;
}

// Where the limit's counters are, and what is answered where they cannot be reached. False if anything is wrong.
bool place_limit(const LimitDraft& draft, const StoreNames& stores, RuleLimit& limit, Findings& findings) {
  if (draft.tier.broken || draft.store.broken || draft.on_store_failure.broken) return false;
  bool fine = true;
  if (draft.tier.stated && draft.tier.value == to_string(Tier::local)) {
    limit.tier = Tier::local;
  } else if (draft.tier.stated && draft.tier.value != to_string(Tier::global)) {
    findings.error(draft.tier.mark,
                   fmt::format("'tier' is {}; accepted is global or local", in_quotes(draft.tier.value)));
    fine = false;
  }
  if (draft.on_store_failure.stated) {
    const std::string& text = draft.on_store_failure.value;
    limit.on_store_failure = on_store_failure_named(text);
    if (!limit.on_store_failure) {
      findings.error(draft.on_store_failure.mark,
                     fmt::format("'on_store_failure' is {}; accepted is error, allow, deny or local", in_quotes(text)));
      fine = false;
    }
  }
  const auto needs_store = [&](const Stated<std::string>& field, Field name) {
    if (!field.stated || limit.tier == Tier::global) return;
    findings.error(field.mark, fmt::format("'{}' has no meaning for tier local, which uses no store", to_string(name)));
    fine = false;
  };
  needs_store(draft.store, Field::store);
  needs_store(draft.on_store_failure, Field::on_store_failure);
  if (limit.tier == Tier::global) limit.store = draft.store.stated ? draft.store.value : stores.of_file;
  return check_store_name(draft.store, stores, findings) && fine;
}

// What a draft comes to, once everything in it is right.
struct Parts {
  Algorithm algorithm;
  Time time;
  Nanoseconds max_wait;
  std::optional<MadePeak> peak;
};

std::optional<Parts> read_parts(const LimitDraft& draft, Findings& findings) {
  const std::optional<Time> time = read_time(draft.rate, findings);
  const std::optional<Nanoseconds> max_wait = read_max_wait(draft.max_wait, findings);
  const bool offset_fine = check_offset(draft.window_offset, findings);
  const std::optional<Algorithm> algorithm = read_algorithm(draft, findings);
  if (!algorithm) return std::nullopt;
  const bool meaning_fine = check_meaning(draft, *algorithm, findings);
  const bool amount_fine = check_amount(draft.rate, *algorithm, findings);
  std::optional<MadePeak> peak;
  if (draft.peak && is_bucket(*algorithm)) peak = read_peak(*draft.peak, findings);

  if (!time || !max_wait || !offset_fine || !meaning_fine || !amount_fine) return std::nullopt;
  if ((draft.peak && !peak) || draft.rate.burst.broken || draft.count_refused.broken) return std::nullopt;
  return Parts{.algorithm = *algorithm, .time = *time, .max_wait = *max_wait, .peak = peak};
}

std::optional<RuleLimit> make(const LimitDraft& draft, bool from_list, const StoreNames& stores, Findings& findings) {
  const std::optional<Parts> parts = read_parts(draft, findings);
  if (!parts) return std::nullopt;
  const std::uint32_t amount = draft.rate.requests_per_unit.value;
  const Result<algorithm::Limit> limit = algorithm::Limit::create({
      .algorithm = parts->algorithm,
      .amount = amount,
      .window_seconds = parts->time.seconds,
      .burst = burst_of(draft.rate),
      .count_refused = counts_refused(draft, parts->algorithm, from_list),
      .spread_windows = draft.window_offset.stated,
      .peak = parts->peak ? std::optional{parts->peak->options} : std::nullopt,
      .max_wait = parts->max_wait,
  });
  if (!limit) {
    findings.error(draft.rate.mark, limit.error().message);
    return std::nullopt;
  }
  RuleLimit made{.limit = *limit,
                 .unit = parts->time.unit,
                 .unit_multiplier = parts->time.multiplier,
                 .requests_per_unit = amount,
                 .burst = limit->is_bucket() ? burst_of(draft.rate) : 0,
                 .rank = 0,
                 .from_list = from_list};
  if (!place_limit(draft, stores, made, findings)) return std::nullopt;
  if (!parts->peak) return made;
  made.peak = parts->peak->stated;
  compare_peak(made, *parts->peak, draft.peak->mark, findings);
  return made;
}

// Whether the two would be one counter but for their ranks.
bool same_identity(const RuleLimit& a, const RuleLimit& b) {
  if (a.limit.algorithm() != b.limit.algorithm()) return false;
  return !a.limit.is_window() || (a.limit.window_seconds() == b.limit.window_seconds() &&
                                  a.limit.spreads_windows() == b.limit.spreads_windows());
}

// Ranks `limit` among `others`; false if it cannot stand beside them.
bool rank(RuleLimit& limit, std::span<const RuleLimit> others, yaml::Mark mark, Findings& findings) {
  for (const RuleLimit& other : others) {
    if (!same_identity(limit, other)) continue;
    ++limit.rank;
    if (limit.limit.is_window()) {
      findings.error(mark,
                     fmt::format("a second {} per {} in one list: the smaller one alone decides",
                                 to_string(limit.limit.algorithm()), describe_time(limit.unit_multiplier, limit.unit)));
      return false;
    }
    if (limit.limit == other.limit) {
      findings.error(mark, "the same limit twice in one list");
      return false;
    }
  }
  return true;
}

}  // namespace

bool check_store_name(const Stated<std::string>& name, const StoreNames& stores, Findings& findings) {
  if (!name.stated || name.broken || !stores.known) return !name.broken;
  if (std::ranges::find(*stores.known, name.value) != stores.known->end()) return true;
  const std::vector<std::string_view> names{stores.known->begin(), stores.known->end()};
  findings.error(name.mark,
                 names.empty()
                     ? fmt::format("store {}, but no stores are named (--settings, stores)", in_quotes(name.value))
                     : fmt::format("unknown store {}{}", in_quotes(name.value), meant(name.value, names)));
  return false;
}

std::optional<RuleLimit> make_limit(const LimitDraft& draft, const StoreNames& stores, Findings& findings) {
  return make(draft, false, stores, findings);
}

std::vector<RuleLimit> make_limits(std::span<const LimitDraft> drafts, const StoreNames& stores, Findings& findings) {
  std::vector<RuleLimit> limits;
  for (const LimitDraft& draft : drafts) {
    std::optional<RuleLimit> limit = make(draft, true, stores, findings);
    if (limit && rank(*limit, limits, draft.rate.mark, findings)) limits.push_back(*limit);
  }
  return limits;
}

void check_unlimited(const LimitDraft& draft, Findings& findings) {
  const RateDraft& rate = draft.rate;
  if (unit_named(rate.unit.value)) {
    findings.error(rate.unit.mark, fmt::format("unit {} together with 'unlimited: true'; accepted is one of the two",
                                               in_quotes(rate.unit.value)));
  } else if (rate.unit.stated) {
    findings.warning(rate.unit.mark,
                     fmt::format("unknown unit {}, ignored because of 'unlimited: true'", in_quotes(rate.unit.value)));
  }
  const auto without_meaning = [&](Field field, bool given, yaml::Mark mark) {
    if (!given) return;
    findings.error(mark, fmt::format("'{}' has no meaning together with 'unlimited: true'", to_string(field)));
  };
  without_meaning(Field::algorithm, draft.algorithm.stated, draft.algorithm.mark);
  without_meaning(Field::unit_multiplier, rate.unit_multiplier.stated, rate.unit_multiplier.mark);
  without_meaning(Field::burst, rate.burst.stated, rate.burst.mark);
  without_meaning(Field::peak, draft.peak.has_value(), draft.peak ? draft.peak->mark : yaml::Mark{});
  without_meaning(Field::max_wait, draft.max_wait.stated, draft.max_wait.mark);
  without_meaning(Field::window_offset, draft.window_offset.stated, draft.window_offset.mark);
  without_meaning(Field::count_refused, draft.count_refused.stated, draft.count_refused.mark);
  without_meaning(Field::tier, draft.tier.stated, draft.tier.mark);
  without_meaning(Field::store, draft.store.stated, draft.store.mark);
  without_meaning(Field::on_store_failure, draft.on_store_failure.stated, draft.on_store_failure.mark);
}

}  // namespace penstock::rules
