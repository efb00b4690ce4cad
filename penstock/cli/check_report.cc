#include "penstock/cli/check_report.h"

#include <algorithm>
#include <cstdint>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "penstock/cli/json_text.h"
#include "penstock/rules/description.h"
#include "penstock/rules/findings.h"
#include "penstock/rules/limit_facts.h"
#include "penstock/store/memory/table.h"

namespace penstock::cli {
namespace {

namespace json = boost::json;

std::uint64_t bytes_of(const rules::RuleLimit& limit) {
  return store::Table::kBytesAKey * static_cast<std::uint64_t>(limit.limit.state_words());
}

std::string describe_memory(const rules::RuleLimit& limit) {
  const std::string bytes = fmt::format("{} bytes a key", bytes_of(limit));
  return limit.limit.is_log() ? bytes + " and 13.5 to 27 a remembered hit" : bytes;
}

std::string facts_of(const rules::RuleLimit& limit) {
  const rules::WorstBurst worst = rules::worst_burst(limit);
  return fmt::format("at most {} in any {} ({}); {}; {}", worst.amount,
                     rules::describe_time(limit.unit_multiplier, limit.unit), worst.formula,
                     rules::describe_precision(limit), describe_memory(limit));
}

json::object place_of(const Place& place) {
  json::object object{{"file", json_text(place.file)}};
  if (place.line > 0) object["line"] = place.line;
  if (place.column > 0) object["column"] = place.column;
  return object;
}

json::array findings_of(const std::vector<Error>& errors) {
  json::array array;
  for (const Error& error : errors) {
    json::object object = error.place ? place_of(*error.place) : json::object{};
    object["message"] = json_text(error.message);
    array.push_back(std::move(object));
  }
  return array;
}

json::object limit_of(const rules::RuleLimit& limit) {
  const rules::WorstBurst worst = rules::worst_burst(limit);
  json::object object{{"text", rules::describe_limit(limit)},
                      {"algorithm", std::string{algorithm::to_string(limit.limit.algorithm())}},
                      {"unit", std::string{rules::to_string(limit.unit)}},
                      {"unit_multiplier", limit.unit_multiplier},
                      {"requests_per_unit", limit.requests_per_unit},
                      {"window_seconds", limit.limit.window_seconds()},
                      {"count_refused", limit.limit.counts_refused()},
                      {"worst_burst", worst.amount},
                      {"worst_burst_formula", worst.formula},
                      {"precision", rules::describe_precision(limit)},
                      {"bytes_per_key", bytes_of(limit)}};
  if (limit.limit.is_bucket()) object["burst"] = limit.burst;
  return object;
}

json::array strings(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(json_text(text));
  return array;
}

json::object rule_of(const rules::Rule& rule, const CheckedRules& checked) {
  json::object object{{"path", json_text(rule.path)}, {"place", place_of(checked.in_file(rule.place))}};
  if (!rule.name.empty()) object["name"] = json_text(rule.name);
  if (!rule.replaces.empty()) object["replaces"] = strings(rule.replaces);
  if (rule.unlimited) object["unlimited"] = true;
  if (rule.shadow_mode) object["shadow_mode"] = true;
  if (rule.quota_mode) object["quota_mode"] = true;
  json::array limits;
  for (const rules::RuleLimit& limit : rule.limits) limits.push_back(limit_of(limit));
  object["limits"] = std::move(limits);
  return object;
}

}  // namespace

std::vector<std::string> report_rule(const rules::Rule& rule) {
  std::vector<std::string> lines = rules::describe_rule(rule);
  if (rule.unlimited) return lines;
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += "; " + facts_of(rule.limits[i]);
  return lines;
}

std::string report_json(const CheckedRules& checked) {
  json::object report{{"ok", checked.errors.empty()},
                      {"files", strings(checked.files)},
                      {"errors", findings_of(checked.errors)},
                      {"warnings", findings_of(checked.warnings)},
                      {"notes", strings(checked.notes)}};
  json::array domains, all;
  if (checked.rules) {
    for (const std::string_view domain : checked.rules->domain_names()) domains.emplace_back(json_text(domain));
    for (const auto& rule : checked.rules->rules()) all.push_back(rule_of(*rule, checked));
  }
  report["domains"] = std::move(domains);
  report["rules"] = std::move(all);
  return json::serialize(report) + "\n";
}

std::string report_changes(const std::vector<rules::Change>& changes) {
  std::vector<const rules::Change*> ordered;
  for (const bool shout : {true, false}) {
    for (const rules::Change& change : changes) {
      if (change.shout == shout) ordered.push_back(&change);
    }
  }
  std::string out;
  for (const rules::Change* change : ordered) {
    out += fmt::format("{}{} '{}': {}  [{}]\n", change->shout ? "!!! " : "", to_string(change->kind),
                       rules::escaped(change->path), change->text, to_string(change->place));
  }
  return out;
}

std::string report_changes_json(const std::vector<rules::Change>& changes) {
  json::array all;
  for (const rules::Change& change : changes) {
    all.push_back(json::object{{"kind", std::string{to_string(change.kind)}},
                               {"path", json_text(change.path)},
                               {"shout", change.shout},
                               {"text", json_text(change.text)},
                               {"place", place_of(change.place)}});
  }
  return json::serialize(json::object{{"changes", std::move(all)}}) + "\n";
}

}  // namespace penstock::cli
