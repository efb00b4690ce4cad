#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/protocol/json.h"
#include "penstock/protocol/json_number.h"

namespace penstock::protocol {
namespace {

using boost::json::error_code;
using boost::json::string_view;

// Where the parser stands: in the root, in an object, or in a list of objects.
enum class Where : std::uint8_t { root, request, descriptors, descriptor, entries, entry, override_limit };

enum class FieldId : std::uint8_t {
  none,
  domain,
  descriptors,
  request_hits,
  entries,
  limit,
  hits,
  is_negative_hits,
  key,
  value,
  requests_per_unit,
  unit,
};

struct Field {
  FieldId id;
  std::string_view camel_case;
  std::string_view snake_case;
};

constexpr std::array kRequestFields{Field{FieldId::domain, "domain", "domain"},
                                    Field{FieldId::descriptors, "descriptors", "descriptors"},
                                    Field{FieldId::request_hits, "hitsAddend", "hits_addend"}};
constexpr std::array kDescriptorFields{Field{FieldId::entries, "entries", "entries"},
                                       Field{FieldId::limit, "limit", "limit"},
                                       Field{FieldId::hits, "hitsAddend", "hits_addend"},
                                       Field{FieldId::is_negative_hits, "isNegativeHits", "is_negative_hits"}};
constexpr std::array kEntryFields{Field{FieldId::key, "key", "key"}, Field{FieldId::value, "value", "value"}};
constexpr std::array kOverrideFields{Field{FieldId::requests_per_unit, "requestsPerUnit", "requests_per_unit"},
                                     Field{FieldId::unit, "unit", "unit"}};

// By number. A week has a number only, as in envoy.type.v3.RateLimitUnit.
constexpr std::array<std::string_view, 7> kUnits{"UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR"};

std::span<const Field> fields_of(Where where) {
  switch (where) {
    case Where::request: return kRequestFields;
    case Where::descriptor: return kDescriptorFields;
    case Where::entry: return kEntryFields;
    case Where::override_limit: return kOverrideFields;
    case Where::root:
    case Where::descriptors:
    case Where::entries: return {};
  }
  return {};
}

// Boost.JSON's parser tells this handler what it reads; each method is false when that has no place here, with `fault`
// set. Only the shapes of one message exist, so the state is a short stack and no tree is built.
class RequestHandler {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = max_object_size;
  static constexpr std::size_t max_key_size = max_object_size;
  static constexpr std::size_t max_string_size = max_object_size;
  static constexpr std::size_t kMaxDepth = 6;  // request, descriptors, descriptor, entries, entry; and one to see more

  RequestHandler(std::string& texts, CheckBatch& batch) : texts_{texts}, batch_{batch} {}

  [[nodiscard]] const std::optional<std::string>& fault() const { return fault_; }

  bool on_document_begin(error_code& /*error*/) { return true; }
  bool on_document_end(error_code& /*error*/) { return true; }

  bool on_object_begin(error_code& error) {
    switch (top().where) {
      case Where::root: return push(Where::request);
      case Where::descriptors: return begin_descriptor(error);
      case Where::entries: {
        entry_ = {};
        return push(Where::entry);
      }
      default: break;
    }
    if (field_ != FieldId::limit) return wrong("an object", error);
    batch_.last_descriptor().limit.emplace();
    return push(Where::override_limit);
  }

  bool on_object_end(std::size_t /*count*/, error_code& error) {
    const bool was_entry = top().where == Where::entry;
    pop();
    if (!was_entry) return true;
    if (auto added = batch_.add_entry(entry_); !added) return refuse(std::move(added.error().message), error);
    return true;
  }

  bool on_array_begin(error_code& error) {
    if (in_object() && field_ == FieldId::descriptors) return push(Where::descriptors);
    if (in_object() && field_ == FieldId::entries) return push(Where::entries);
    return wrong("a list", error);
  }

  bool on_array_end(std::size_t /*count*/, error_code& /*error*/) {
    pop();
    return true;
  }

  bool on_key_part(string_view part, std::size_t /*size*/, error_code& /*error*/) {
    key_.append(part.data(), part.size());
    return true;
  }

  bool on_key(string_view part, std::size_t /*size*/, error_code& error) {
    key_.append(part.data(), part.size());
    const bool known = select(error);
    key_.clear();
    return known;
  }

  bool on_string_part(string_view part, std::size_t /*size*/, error_code& /*error*/) {
    texts_.append(part.data(), part.size());
    string_size_ += part.size();
    return true;
  }

  bool on_string(string_view part, std::size_t size, error_code& error) {
    (void)on_string_part(part, size, error);
    const std::string_view text = std::string_view{texts_}.substr(texts_.size() - std::exchange(string_size_, 0));
    return string(text, error);
  }

  bool on_number_part(string_view part, error_code& /*error*/) {
    number_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t /*value*/, string_view part, error_code& error) { return end_number(part, error); }
  bool on_uint64(std::uint64_t /*value*/, string_view part, error_code& error) { return end_number(part, error); }
  bool on_double(double /*value*/, string_view part, error_code& error) { return end_number(part, error); }

  bool on_bool(bool value, error_code& error) {
    if (!in_object() || field_ != FieldId::is_negative_hits) return wrong(value ? "true" : "false", error);
    batch_.last_descriptor().negative_hits = value;
    return true;
  }

  bool on_null(error_code& error) { return in_object() || wrong("null", error); }

  bool on_comment_part(string_view /*part*/, error_code& /*error*/) { return true; }
  bool on_comment(string_view /*part*/, error_code& /*error*/) { return true; }

 private:
  struct Level {
    Where where = Where::root;
    std::uint32_t seen = 0;         // fields of this object, a bit for each place in its table
    FieldId outer = FieldId::none;  // the field of the object around it that this level is the value of
  };

  [[nodiscard]] Level& top() { return stack_[depth_]; }
  [[nodiscard]] bool in_object() { return !fields_of(top().where).empty(); }

  bool push(Where where) {
    stack_[++depth_] = {.where = where, .seen = 0, .outer = field_};
    field_ = FieldId::none;
    return true;
  }

  void pop() {
    field_ = top().outer;
    --depth_;
  }

  bool begin_descriptor(error_code& error) {
    if (auto added = batch_.add_descriptor(); !added) return refuse(std::move(added.error().message), error);
    return push(Where::descriptor);
  }

  bool select(error_code& error) {
    const std::span<const Field> fields = fields_of(top().where);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (key_ != fields[i].camel_case && key_ != fields[i].snake_case) continue;
      if ((top().seen >> i & 1) != 0) return refuse(fmt::format("field \"{}\" stands twice", key_), error);
      top().seen |= 1U << i;
      field_ = fields[i].id;
      return true;
    }
    std::string names;
    for (const Field& field : fields) names += fmt::format("{}{}", names.empty() ? "" : ", ", field.camel_case);
    return refuse(fmt::format("unknown field \"{}\"; known are {}", key_.substr(0, kShown), names), error);
  }

  bool string(std::string_view text, error_code& error) {
    if (!in_object()) return wrong("a string", error);
    switch (field_) {
      case FieldId::domain: {
        auto set = batch_.set_domain(text);
        return set.has_value() || refuse(std::move(set.error().message), error);
      }
      case FieldId::key: entry_.key = text; return true;
      case FieldId::value: entry_.value = text; return true;
      case FieldId::unit: return unit_name(text, error);
      case FieldId::request_hits:
      case FieldId::hits:
      case FieldId::requests_per_unit: return number(text, error);
      default: return wrong("a string", error);
    }
  }

  bool end_number(string_view part, error_code& error) {
    number_.append(part.data(), part.size());
    const bool fits = number(number_, error);
    number_.clear();
    return fits;
  }

  bool number(std::string_view text, error_code& error) {
    constexpr std::uint64_t k32 = std::numeric_limits<std::uint32_t>::max();
    if (!in_object()) return wrong("a number", error);
    const std::optional<JsonInteger> integer = parse_json_integer(text);
    switch (field_) {
      case FieldId::request_hits:
        return in_range(integer, k32, text, error) && (batch_.set_hits_addend(low32(integer)), true);
      case FieldId::requests_per_unit:
        if (!in_range(integer, k32, text, error)) return false;
        batch_.last_descriptor().limit->requests_per_unit = low32(integer);
        return true;
      case FieldId::hits:
        if (!in_range(integer, std::numeric_limits<std::uint64_t>::max(), text, error)) return false;
        batch_.last_descriptor().hits = integer->magnitude;
        return true;
      case FieldId::unit: return unit_number(integer, text, error);
      default: return wrong("a number", error);
    }
  }

  static std::uint32_t low32(const std::optional<JsonInteger>& integer) {
    return static_cast<std::uint32_t>(integer->magnitude);
  }

  bool in_range(const std::optional<JsonInteger>& integer, std::uint64_t most, std::string_view text,
                error_code& error) {
    if (integer && !integer->negative && integer->magnitude <= most) return true;
    return refuse(fmt::format("{} is \"{}\"; a whole number from 0 to {} is accepted", field_name(),
                              text.substr(0, kShown), most),
                  error);
  }

  bool unit_number(const std::optional<JsonInteger>& integer, std::string_view text, error_code& error) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (!integer || integer->magnitude > kMost + (integer->negative ? 1 : 0)) {
      return refuse(fmt::format("unit is {}; a number of 32 bits is accepted", text.substr(0, kShown)), error);
    }
    const auto value = static_cast<std::int64_t>(integer->magnitude);
    batch_.last_descriptor().limit->unit = static_cast<std::int32_t>(integer->negative ? -value : value);
    return true;
  }

  bool unit_name(std::string_view text, error_code& error) {
    for (std::size_t i = 0; i < kUnits.size(); ++i) {
      if (text != kUnits[i]) continue;
      batch_.last_descriptor().limit->unit = static_cast<std::int32_t>(i);
      return true;
    }
    return refuse(fmt::format("unit is \"{}\"; accepted are {}", text.substr(0, kShown), fmt::join(kUnits, ", ")),
                  error);
  }

  [[nodiscard]] std::string_view field_name() {
    for (const Field& field : fields_of(top().where)) {
      if (field.id == field_) return field.camel_case;
    }
    return "the value";
  }

  [[nodiscard]] std::string_view expected() {
    switch (top().where) {
      case Where::root:
      case Where::descriptors:
      case Where::entries: return "an object";
      default: break;
    }
    switch (field_) {
      case FieldId::descriptors:
      case FieldId::entries: return "a list";
      case FieldId::limit: return "an object";
      case FieldId::domain:
      case FieldId::key:
      case FieldId::value: return "a string";
      case FieldId::is_negative_hits: return "true or false";
      default: return "a number";
    }
  }

  [[nodiscard]] std::string_view place() {
    switch (top().where) {
      case Where::root: return "the request";
      case Where::descriptors: return "an item of descriptors";
      case Where::entries: return "an item of entries";
      default: return field_name();
    }
  }

  bool wrong(std::string_view found, error_code& error) {
    return refuse(fmt::format("{} is {}; {} is accepted", place(), found, expected()), error);
  }

  bool refuse(std::string fault, error_code& error) {
    fault_ = std::move(fault);
    error = boost::json::error::syntax;
    return false;
  }

  static constexpr std::size_t kShown = 100;  // of a caller's text in an error

  std::string& texts_;
  CheckBatch& batch_;
  std::array<Level, kMaxDepth + 1> stack_;
  std::size_t depth_ = 0;
  FieldId field_ = FieldId::none;
  rules::Entry entry_;
  std::string key_;
  std::string number_;
  std::size_t string_size_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace

Result<void> decode_json(std::string_view text, std::string& texts, CheckBatch& batch) {
  batch.begin();
  boost::json::parse_options options;
  options.max_depth = RequestHandler::kMaxDepth;
  boost::json::basic_parser<RequestHandler> parser{options, texts, batch};
  error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read == text.size()) return {};
  batch.abandon();
  if (parser.handler().fault()) return fail(ErrorCode::invalid_argument, *parser.handler().fault());
  if (!error) return fail(ErrorCode::invalid_argument, fmt::format("there is text after the object, at byte {}", read));
  return fail(ErrorCode::invalid_argument, fmt::format("no valid JSON at byte {}: {}", read, error.message()));
}

}  // namespace penstock::protocol
