#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/base/nearest.h"
#include "penstock/rules/rule.h"
#include "penstock/trial/cases.h"
#include "penstock/trial/time_text.h"
#include "penstock/yaml/document.h"
#include "penstock/yaml/scalar.h"

namespace penstock::trial {
namespace {

using yaml::Kind;
using yaml::Node;
using yaml::Type;

std::string show(const Node& node) {
  if (node.kind == Kind::mapping) return "a mapping";
  if (node.kind == Kind::sequence) return "a list";
  return fmt::format("'{}'", node.text.substr(0, 60));
}

struct Field {
  std::string_view name;
  std::function<void(const Node&)> read;
};

class Reader {
 public:
  explicit Reader(std::string file) : file_{std::move(file)} {}

  CaseFile file(const Node& root);
  [[nodiscard]] std::vector<Error> take_errors() {
    std::ranges::sort(errors_, {}, [](const Error& error) {
      return std::tuple{error.place->line, error.place->column, std::string_view{error.message}};
    });
    return std::move(errors_);
  }

 private:
  [[nodiscard]] Place place(const Node& node) const {
    return {.file = file_, .line = node.mark.line, .column = node.mark.column};
  }
  void error(const Node& node, std::string message) {
    errors_.push_back({.code = ErrorCode::invalid_argument, .message = std::move(message), .place = place(node)});
  }
  void wrong(const Node& node, std::string_view what, std::string_view accepted) {
    error(node, fmt::format("'{}' is {}; accepted is {}", what, show(node), accepted));
  }

  void fields(const Node& mapping, std::string_view what, std::span<const Field> fields);
  void each(const Node& list, std::string_view what, const std::function<void(const Node&)>& use);

  void flag(const Node& node, std::string_view what, bool& into);
  void number(const Node& node, std::string_view what, std::uint64_t least, std::uint64_t most,
              const std::function<void(std::uint64_t)>& use);
  std::optional<std::string> text(const Node& node, std::string_view what);
  void duration(const Node& node, std::string_view what, const std::function<void(Nanoseconds)>& use);
  void code(const Node& node, Expected& expected);

  void test(const Node& node, CaseFile& file);
  void step(const Node& node, Case& test);
  void require_whole(const Node& node, const Step& step, bool any_expected);
  void hits(const Node& node, Step& step);
  void descriptor(const Node& node, Step& step);
  void entries(const Node& node, Descriptor& descriptor);
  void entry(const yaml::Pair& pair, Descriptor& descriptor);
  void override_of(const Node& node, Descriptor& descriptor);
  void expected(const Node& node, std::string_view what, bool whole, Expected& into);

  std::string file_;
  std::vector<Error> errors_;
  std::uint64_t checks_ = 0;
};

void Reader::fields(const Node& mapping, std::string_view what, std::span<const Field> fields) {
  std::vector<std::string_view> names;
  for (const Field& field : fields) names.push_back(field.name);
  if (mapping.kind != Kind::mapping)
    return wrong(mapping, what, fmt::format("a mapping of {}", fmt::join(names, ", ")));
  for (const yaml::Pair& pair : mapping.pairs) {
    const auto found = std::ranges::find(fields, pair.key->text, &Field::name);
    if (found != fields.end()) {
      found->read(*pair.value);
      continue;
    }
    const std::optional<std::string_view> meant = nearest(pair.key->text, names);
    error(*pair.key, fmt::format("unknown field {} in '{}'{} accepted: {}", show(*pair.key), what,
                                 meant ? fmt::format("; did you mean '{}'?", *meant) : ";", fmt::join(names, ", ")));
  }
}

void Reader::each(const Node& list, std::string_view what, const std::function<void(const Node&)>& use) {
  if (list.kind != Kind::sequence || list.items.empty()) return wrong(list, what, "a list that is not empty");
  for (const Node* item : list.items) use(*item);
}

void Reader::flag(const Node& node, std::string_view what, bool& into) {
  const yaml::Scalar scalar = node.kind == Kind::scalar ? yaml::resolve(node) : yaml::Scalar{};
  if (scalar.type != Type::boolean) return wrong(node, what, "true or false");
  into = scalar.boolean;
}

void Reader::number(const Node& node, std::string_view what, std::uint64_t least, std::uint64_t most,
                    const std::function<void(std::uint64_t)>& use) {
  const yaml::Scalar scalar = node.kind == Kind::scalar ? yaml::resolve(node) : yaml::Scalar{};
  const bool fits = scalar.type == Type::integer && scalar.integer >= 0 &&
                    static_cast<std::uint64_t>(scalar.integer) >= least &&
                    static_cast<std::uint64_t>(scalar.integer) <= most;
  if (!fits) return wrong(node, what, fmt::format("a whole number from {} to {}", least, most));
  use(static_cast<std::uint64_t>(scalar.integer));
}

std::optional<std::string> Reader::text(const Node& node, std::string_view what) {
  if (node.kind == Kind::scalar) return node.text;
  wrong(node, what, "a text");
  return std::nullopt;
}

void Reader::duration(const Node& node, std::string_view what, const std::function<void(Nanoseconds)>& use) {
  const std::optional<Nanoseconds> time = node.kind == Kind::scalar ? parse_time(node.text) : std::nullopt;
  if (!time) return wrong(node, what, fmt::format("a time such as {}, up to {}", kTimeForms, to_text(kLongest)));
  use(*time);
}

CaseFile Reader::file(const Node& root) {
  CaseFile file;
  const Field all[] = {
      {"rules",
       [&](const Node& node) {
         each(node, "rules", [&](const Node& item) {
           if (auto path = text(item, "rules")) file.rules.emplace_back(*std::move(path), place(item));
         });
       }},
      {"merge_domains", [&](const Node& node) { flag(node, "merge_domains", file.merge_domains); }},
      {"shadow_mode", [&](const Node& node) { flag(node, "shadow_mode", file.shadow_mode); }},
      {"quota_mode", [&](const Node& node) { flag(node, "quota_mode", file.quota_mode); }},
      {"spare_others", [&](const Node& node) { flag(node, "spare_others", file.spare_others); }},
      {"tests", [&](const Node& node) { each(node, "tests", [&](const Node& item) { test(item, file); }); }},
  };
  fields(root, "the file", all);
  if (!errors_.empty()) return file;
  if (file.rules.empty()) error(root, "no 'rules'; accepted is a list of rule files or folders");
  if (file.tests.empty()) error(root, "no 'tests'; accepted is a list of tests");
  return file;
}

void Reader::test(const Node& node, CaseFile& file) {
  Case& test = file.tests.emplace_back();
  test.place = place(node);
  test.start = kDefaultStart;
  const Field all[] = {
      {"name", [&](const Node& inner) { test.name = text(inner, "name").value_or(""); }},
      {"start",
       [&](const Node& inner) {
         const std::optional<Instant> start = inner.kind == Kind::scalar ? parse_instant(inner.text) : std::nullopt;
         if (!start) return wrong(inner, "start", kInstantForms);
         test.start = *start;
       }},
      {"steps", [&](const Node& inner) { each(inner, "steps", [&](const Node& item) { step(item, test); }); }},
  };
  const std::size_t before = errors_.size();
  fields(node, "a test", all);
  if (errors_.size() != before) return;
  if (test.name.empty()) error(node, "a test without 'name'; accepted is a text that is not empty");
  if (test.steps.empty()) error(node, "a test without 'steps'; accepted is a list of steps");
}

void Reader::step(const Node& node, Case& test) {
  Step step;
  if (!test.steps.empty()) step = {.at = test.steps.back().at, .domain = test.steps.back().domain};
  step.place = place(node);
  bool any_expected = false;
  const Field all[] = {
      {"at",
       [&](const Node& inner) {
         duration(inner, "at", [&](Nanoseconds at) {
           if (at < step.at)
             error(inner, fmt::format("'at' is {}, before the step above at {}; time does not go back", show(inner),
                                      to_text(step.at)));
           step.at = std::max(at, step.at);
         });
       }},
      {"domain", [&](const Node& inner) { step.domain = text(inner, "domain").value_or(""); }},
      {"descriptors",
       [&](const Node& inner) { each(inner, "descriptors", [&](const Node& item) { descriptor(item, step); }); }},
      {"hits", [&](const Node& inner) { hits(inner, step); }},
      {"times",
       [&](const Node& inner) {
         number(inner, "times", 1, kMaxChecks, [&](std::uint64_t times) { step.times = times; });
       }},
      {"expect",
       [&](const Node& inner) {
         any_expected = true;
         step.expected.place = place(inner);
         expected(inner, "expect", true, step.expected);
       }},
  };
  const std::size_t before = errors_.size();
  fields(node, "a step", all);
  if (errors_.size() == before) require_whole(node, step, any_expected);
  checks_ += step.times;
  if (checks_ > kMaxChecks && checks_ - step.times <= kMaxChecks) {
    error(node, fmt::format("the file asks more than {} times in all, which is the most", kMaxChecks));
  }
  test.steps.push_back(std::move(step));
}

void Reader::require_whole(const Node& node, const Step& step, bool any_expected) {
  if (step.domain.empty()) error(node, "a step without 'domain', and none above has one; accepted is a text");
  if (step.descriptors.empty()) error(node, "a step without 'descriptors'; accepted is a list such as [{api_key: k1}]");
  if (!any_expected) error(node, "a step without 'expect'; accepted is OK, OVER_LIMIT, or a mapping");
  const std::size_t count = step.expected.statuses.size();
  if (count != 0 && count != step.descriptors.size()) {
    error(node, fmt::format("'statuses' has {} items for {} descriptors", count, step.descriptors.size()));
  }
}

void Reader::hits(const Node& node, Step& step) {
  const yaml::Scalar scalar = node.kind == Kind::scalar ? yaml::resolve(node) : yaml::Scalar{};
  if (scalar.type != Type::integer || scalar.integer == std::numeric_limits<std::int64_t>::min()) {
    return wrong(node, "hits", "a whole number: 0 only looks, a negative one gives hits back");
  }
  step.refund = scalar.integer < 0;
  step.hits = static_cast<std::uint64_t>(step.refund ? -scalar.integer : scalar.integer);
}

// Entries as a mapping, or a mapping of `entries` with more; a plain entry has a text as its value.
void Reader::descriptor(const Node& node, Step& step) {
  Descriptor& descriptor = step.descriptors.emplace_back();
  const bool detailed = node.kind == Kind::mapping && std::ranges::any_of(node.pairs, [](const yaml::Pair& pair) {
                          return pair.key->text == "entries" && pair.value->kind != Kind::scalar;
                        });
  if (!detailed) return entries(node, descriptor);
  const Field all[] = {
      {"entries", [&](const Node& inner) { entries(inner, descriptor); }},
      {"limit", [&](const Node& inner) { override_of(inner, descriptor); }},
      {"hits",
       [&](const Node& inner) {
         number(inner, "hits", 0, std::numeric_limits<std::int64_t>::max(),
                [&](std::uint64_t hits) { descriptor.hits = hits; });
       }},
  };
  fields(node, "a descriptor", all);
}

void Reader::entries(const Node& node, Descriptor& descriptor) {
  if (node.kind == Kind::mapping) {
    for (const yaml::Pair& pair : node.pairs) entry(pair, descriptor);
  } else if (node.kind == Kind::sequence) {
    for (const Node* item : node.items) {
      if (item->kind != Kind::mapping || item->pairs.size() != 1) {
        wrong(*item, "entries", "a list of mappings of one key, such as [{path: /a}, {path: /b}]");
        continue;
      }
      entry(item->pairs.front(), descriptor);
    }
  } else {
    wrong(node, "descriptors", "a list of mappings such as [{api_key: k1, route: orders}]");
  }
}

void Reader::entry(const yaml::Pair& pair, Descriptor& descriptor) {
  const bool null = pair.value->kind == Kind::scalar && yaml::resolve(*pair.value).type == Type::null;
  const std::optional<std::string> value = null ? std::string{} : text(*pair.value, pair.key->text);
  if (value) descriptor.entries.emplace_back(pair.key->text, *value);
}

void Reader::override_of(const Node& node, Descriptor& descriptor) {
  limiter::Override& limit = descriptor.limit.emplace();
  const Field all[] = {
      {"unit",
       [&](const Node& inner) {
         for (int unit = 1; unit <= 7; ++unit) {
           if (inner.text == rules::to_string(static_cast<rules::Unit>(unit))) limit.unit = unit;
         }
         if (limit.unit == 0) wrong(inner, "unit", "second, minute, hour, day, week, month or year");
       }},
      {"requests_per_unit",
       [&](const Node& inner) {
         number(inner, "requests_per_unit", 0, std::numeric_limits<std::uint32_t>::max(),
                [&](std::uint64_t amount) { limit.requests_per_unit = static_cast<std::uint32_t>(amount); });
       }},
  };
  fields(node, "limit", all);
}

void Reader::code(const Node& node, Expected& expected) {
  if (node.kind == Kind::scalar && node.text == "OK") {
    expected.code = limiter::Code::ok;
  } else if (node.kind == Kind::scalar && node.text == "OVER_LIMIT") {
    expected.code = limiter::Code::over_limit;
  } else {
    wrong(node, "code", "OK or OVER_LIMIT");
  }
}

void Reader::expected(const Node& node, std::string_view what, bool whole, Expected& into) {
  into.place = place(node);
  if (node.kind == Kind::scalar) return code(node, into);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::vector<Field> all = {
      {"code", [&](const Node& inner) { code(inner, into); }},
      {"remaining",
       [&](const Node& inner) {
         number(inner, "remaining", 0, kMost,
                [&](std::uint64_t count) { into.remaining = static_cast<std::uint32_t>(count); });
       }},
      {"retry_after",
       [&](const Node& inner) { duration(inner, "retry_after", [&](Nanoseconds wait) { into.retry_after = wait; }); }},
      {"reset",
       [&](const Node& inner) {
         duration(inner, "reset", [&](Nanoseconds wait) {
           if (wait % std::chrono::seconds{1} != Nanoseconds{0}) return wrong(inner, "reset", "whole seconds");
           into.reset = std::chrono::floor<std::chrono::seconds>(wait).count();
         });
       }},
      {"limit", [&](const Node& inner) { into.limit = text(inner, "limit"); }},
  };
  if (whole) {
    all.push_back({"ok", [&](const Node& inner) {
                     number(inner, "ok", 0, kMaxChecks, [&](std::uint64_t count) { into.ok = count; });
                   }});
    all.push_back({"over", [&](const Node& inner) {
                     number(inner, "over", 0, kMaxChecks, [&](std::uint64_t count) { into.over = count; });
                   }});
    all.push_back({"statuses", [&](const Node& inner) {
                     each(inner, "statuses", [&](const Node& item) {
                       expected(item, "an item of statuses", false, into.statuses.emplace_back());
                     });
                   }});
  }
  fields(node, what, all);
}

}  // namespace

ResultOrAll<CaseFile> read_cases(std::string_view text, const std::string& file) {
  const Result<yaml::Document> document = yaml::Document::read(text, file);
  if (!document) return std::unexpected{std::vector{document.error()}};
  if (document->root() == nullptr) {
    return std::unexpected{std::vector{Error{.code = ErrorCode::invalid_argument,
                                             .message = "the file is empty; accepted is a mapping of rules and tests",
                                             .place = Place{.file = file, .line = 1, .column = 1}}}};
  }
  Reader reader{file};
  CaseFile cases = reader.file(*document->root());
  std::vector<Error> errors = reader.take_errors();
  if (!errors.empty()) return std::unexpected{std::move(errors)};
  return cases;
}

}  // namespace penstock::trial
