#include "penstock/rules/values.h"

#include <string_view>

#include <fmt/format.h>

#include "penstock/yaml/scalar.h"

namespace penstock::rules {
namespace {

using yaml::Kind;
using yaml::Node;
using yaml::Scalar;
using yaml::Type;

std::string_view describe_node(const Node& node) {
  switch (node.kind) {
    case Kind::sequence: return "a list";
    case Kind::mapping: return "a mapping";
    case Kind::scalar: return yaml::describe(yaml::resolve(node).type);
  }
  return "";
}

bool is_plain_decimal(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos && (text.size() == 1 || text.front() != '0');
}

Scalar scalar_of(const Node& value) { return value.kind == Kind::scalar ? yaml::resolve(value) : Scalar{}; }

Stated<std::string> refuse_text(const Node& value, Field field, Findings& findings) {
  findings.error(value.mark, fmt::format("'{}' is {}; accepted is a text{}", to_string(field), show(value),
                                         value.kind == Kind::scalar ? " (put it in quotes)" : ""));
  return {.value = {}, .mark = value.mark, .broken = true};
}

}  // namespace

bool is_null(const Node& node) { return node.kind == Kind::scalar && yaml::resolve(node).type == Type::null; }

std::string show(const Node& node) {
  if (node.kind != Kind::scalar || is_null(node)) return std::string{describe_node(node)};
  return fmt::format("{}, {}", in_quotes(node.text), describe_node(node));
}

Stated<std::string> read_text(const Node& value, Field field, Findings& findings) {
  if (is_null(value)) return {.value = {}, .mark = value.mark};
  if (value.kind != Kind::scalar || yaml::resolve(value).type == Type::other_number) {
    return refuse_text(value, field, findings);
  }
  if (value.text.ends_with('\n')) {
    findings.warning(value.mark, fmt::format("'{}' ends with a line break, which a request must send as well ('|-' "
                                             "leaves it out)",
                                             to_string(field)));
  }
  return {.value = value.text, .mark = value.mark, .stated = true};
}

Stated<std::string> read_word(const Node& value, Field field, Findings& findings) {
  if (is_null(value)) return {.value = {}, .mark = value.mark};
  if (value.kind != Kind::scalar) return refuse_text(value, field, findings);
  return {.value = value.text, .mark = value.mark, .stated = true};
}

Stated<bool> read_boolean(const Node& value, Field field, Findings& findings) {
  Stated<bool> boolean{.value = false, .mark = value.mark};
  if (is_null(value)) return boolean;
  const Scalar scalar = scalar_of(value);
  boolean.broken = scalar.type != Type::boolean;
  if (boolean.broken) {
    findings.error(value.mark, fmt::format("'{}' is {}; accepted are true and false, without quotes", to_string(field),
                                           show(value)));
    return boolean;
  }
  boolean.value = scalar.boolean;
  boolean.stated = true;
  return boolean;
}

Stated<std::uint32_t> read_count(const Node& value, Field field, Range range, Findings& findings) {
  Stated<std::uint32_t> count{.value = 0, .mark = value.mark};
  if (is_null(value)) return count;
  const Scalar scalar = scalar_of(value);
  count.broken = scalar.type != Type::integer || scalar.integer < range.least || scalar.integer > range.most;
  if (count.broken) {
    findings.error(value.mark, fmt::format("'{}' is {}; accepted is a whole number from {} to {}, without quotes",
                                           to_string(field), show(value), range.least, range.most));
    return count;
  }
  if (!is_plain_decimal(value.text)) {
    findings.warning(value.mark, fmt::format("'{}: {}' is read as {}, by the rules of YAML 1.1", to_string(field),
                                             value.text.substr(0, 32), scalar.integer));
  }
  count.value = static_cast<std::uint32_t>(scalar.integer);
  count.stated = true;
  return count;
}

}  // namespace penstock::rules
