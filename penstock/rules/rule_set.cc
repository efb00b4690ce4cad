#include "penstock/rules/rule_set.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "penstock/base/check.h"
#include "penstock/base/sha256.h"
#include "penstock/rules/identity.h"
#include "penstock/rules/tree.h"

namespace penstock::rules {
namespace {

// Calls `use(entry, found)` for each entry; for an override, and from where no rule is found, with nothing found.
template <class Use>
void walk(const RuleSet::Domain* domain, std::span<const Entry> entries, Use use) {
  const Level* level = domain == nullptr ? nullptr : &domain->top;
  for (const Entry& entry : entries) {
    const Found found = level == nullptr ? Found{} : level->find(entry);
    level = found.node == nullptr ? nullptr : &found.node->children;
    use(entry, found);
  }
}

// As `walk`, for entries that a rule was found for.
template <class Use>
void walk_matched(const RuleSet::Domain& domain, std::span<const Entry> entries, Use use) {
  walk(&domain, entries, [&](const Entry& entry, const Found& found) {
    PENSTOCK_CHECK(found.node != nullptr);
    use(entry, found);
  });
}

void append_entry(std::string& out, std::string_view key, std::string_view value) {
  out.append(key);
  out.push_back('_');
  out.append(value);
}

void append_entry_or_key(std::string& out, const Entry& entry) {
  out.append(entry.key);
  if (entry.value.empty()) return;
  out.push_back('_');
  out.append(entry.value);
}

void append_rule_entry(std::string& out, const Entry& entry, const Found& found) {
  const bool with_value = found.node->value_to_metric;
  if (found.by == By::pattern) {
    const bool as_sent = with_value && !found.node->share_threshold;
    append_entry(out, entry.key, as_sent ? entry.value : value_part(found.node->text, entry.key));
  } else if (found.by == By::key_alone && with_value) {
    append_entry_or_key(out, entry);
  } else {
    out.append(found.node->text);
  }
}

bool is_shared(const Found& found) { return found.by == By::pattern && found.node->share_threshold; }

// An empty value leaves its underscore, but not where another entry is shared; so it is in envoyproxy/ratelimit.
void append_detailed_entry(std::string& out, const Entry& entry, const Found& found, bool any_shared) {
  if (is_shared(found)) {
    append_entry(out, entry.key, value_part(found.node->text, entry.key));
  } else if (any_shared) {
    append_entry_or_key(out, entry);
  } else {
    append_entry(out, entry.key, entry.value);
  }
}

void append_override_path(std::string& out, std::span<const Entry> entries) {
  out.push_back('.');
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) out.push_back('.');
    append_entry_or_key(out, entries[i]);
  }
}

}  // namespace

Hash128 counter_of(const SipHasher128& counter, const RuleLimit& limit) noexcept {
  SipHasher128 hasher = counter;
  feed_limit(hasher, limit);
  return hasher.finish();
}

RuleSet::RuleSet() : compiled_{std::make_unique<const Compiled>()} {}
RuleSet::RuleSet(std::unique_ptr<const Compiled> compiled) : compiled_{std::move(compiled)} {}
RuleSet::~RuleSet() = default;

const RuleSet::Domain* RuleSet::domain(std::string_view name) const noexcept {
  const auto found = compiled_->by_name.find(name);
  return found == compiled_->by_name.end() ? nullptr : found->second;
}

const std::string& RuleSet::store_of(const Domain& domain) const noexcept { return domain.store; }

bool RuleSet::is_all_or_nothing(const Domain& domain) const noexcept { return domain.all_or_nothing; }

Match RuleSet::match(const Domain& domain, std::span<const Entry> entries, HashKey key) const noexcept {
  Match match{.rule = nullptr, .counter = SipHasher128{key}};
  feed_domain(match.counter, domain.name);
  const Level* level = &domain.top;
  for (const Entry& entry : entries) {
    const Found found = level->find(entry);
    if (found.node == nullptr) return {};
    feed_entry(match.counter, entry.key, counted_value(found, entry));
    match.rule = found.node->rule;
    level = &found.node->children;
  }
  return match;
}

SipHasher128 RuleSet::identify(std::string_view domain, std::span<const Entry> entries, HashKey key) const noexcept {
  SipHasher128 hasher{key};
  feed_domain(hasher, domain);
  for (const Entry& entry : entries) feed_entry(hasher, entry.key, entry.value);
  return hasher;
}

std::array<std::uint8_t, 16> RuleSet::shared_identity(std::string_view domain_name, std::span<const Entry> entries,
                                                      const RuleLimit& limit, bool is_override) const {
  IdentityBytes bytes;
  feed_domain(bytes, domain_name);
  walk(is_override ? nullptr : domain(domain_name), entries,
       [&](const Entry& entry, const Found& found) { feed_entry(bytes, entry.key, counted_value(found, entry)); });
  feed_limit(bytes, limit);
  const std::array<std::uint8_t, 32> digest = sha256(bytes.view());
  std::array<std::uint8_t, 16> identity;
  std::copy_n(digest.begin(), identity.size(), identity.begin());
  return identity;
}

std::uint64_t RuleSet::shared_family(std::string_view domain_name, std::span<const Entry> entries,
                                     bool is_override) const {
  SipHasher128 hasher{HashKey{}};  // no secret: nothing is decided by it
  feed_domain(hasher, domain_name);
  walk(is_override ? nullptr : domain(domain_name), entries,
       [&](const Entry& entry, const Found& found) { feed_entry(hasher, entry.key, counted_value(found, entry)); });
  return hasher.finish().low;
}

bool RuleSet::append_original_key(std::string_view domain_name, std::span<const Entry> entries, const RuleLimit& limit,
                                  bool is_override, Instant now, std::string& out) const {
  if (!limit.is_original()) return false;
  out.append(domain_name);
  out.push_back('_');
  walk(is_override ? nullptr : domain(domain_name), entries, [&](const Entry& entry, const Found& found) {
    append_entry(out, entry.key, counted_value(found, entry));
    out.push_back('_');
  });
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::int64_t length = limit.limit.window_seconds();
  const std::int64_t past = (seconds % length + length) % length;
  char digits[24];
  const char* end = std::to_chars(std::begin(digits), std::end(digits), seconds - past).ptr;
  out.append(std::string_view{std::begin(digits), end});
  return true;
}

bool RuleSet::append_stats_path(std::string_view domain_name, std::span<const Entry> entries, bool is_override,
                                std::string& out) const {
  const Domain* const known = domain(domain_name);
  if (known == nullptr) return false;
  if (is_override) {
    out.append(domain_name);
    append_override_path(out, entries);
    return true;
  }
  const Rule* const rule = match(*known, entries, HashKey{}).rule;
  if (rule == nullptr) return false;
  bool any_shared = false;
  walk_matched(*known, entries, [&](const Entry&, const Found& found) { any_shared |= is_shared(found); });
  out.append(domain_name);
  walk_matched(*known, entries, [&](const Entry& entry, const Found& found) {
    out.push_back('.');
    if (rule->detailed_metric) {
      append_detailed_entry(out, entry, found, any_shared);
    } else {
      append_rule_entry(out, entry, found);
    }
  });
  return true;
}

std::span<const std::unique_ptr<const Rule>> RuleSet::rules() const noexcept { return compiled_->rules; }

std::vector<std::string_view> RuleSet::domain_names() const {
  std::vector<std::string_view> names;
  for (const std::unique_ptr<Domain>& domain : compiled_->domains) names.emplace_back(domain->name);
  return names;
}

}  // namespace penstock::rules
