#include "penstock/protocol/reply_extras.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/struct.pb.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/base/check.h"
#include "penstock/protocol/decider.h"

namespace penstock::protocol {
namespace {

using limiter::Status;
using limiter::Verdict;
using rules::Metadata;

Metadata number(std::uint64_t value) { return {.value = static_cast<double>(value)}; }

// The text form that the Go library of protobuf prints: fields that are zero are left out, an unknown unit is a number.
std::string override_text(const limiter::Override& limit) {
  static constexpr std::array<std::string_view, 7> kUnits{"UNKNOWN", "SECOND", "MINUTE", "HOUR",
                                                          "DAY",     "MONTH",  "YEAR"};
  std::string text;
  if (limit.requests_per_unit != 0) text = fmt::format("requests_per_unit:{}", limit.requests_per_unit);
  if (limit.unit == 0) return text;
  const auto unit = static_cast<std::size_t>(limit.unit);
  const bool named = limit.unit > 0 && unit < kUnits.size();
  return fmt::format("{}{}unit:{}", text, text.empty() ? "" : " ",
                     named ? std::string{kUnits[unit]} : fmt::format("{}", limit.unit));
}

Metadata describe(const limiter::Descriptor& descriptor) {
  Metadata::List entries;
  for (const rules::Entry& entry : descriptor.entries) {
    entries.push_back({.value = fmt::format("{}={}", entry.key, entry.value)});
  }
  Metadata::Map map{{"entries", {.value = std::move(entries)}}};
  if (descriptor.hits) map.emplace_back("hitsAddend", number(*descriptor.hits));
  if (descriptor.limit) map.emplace_back("limit", Metadata{.value = override_text(*descriptor.limit)});
  return {.value = std::move(map)};
}

std::size_t text_bytes(const limiter::Descriptor& descriptor) {
  std::size_t bytes = 0;
  for (const rules::Entry& entry : descriptor.entries) bytes += entry.key.size() + entry.value.size() + 1;
  return bytes;
}

Metadata::Map describe(const limiter::Check& check) {
  Metadata::List descriptors;
  std::size_t entries = 0;
  std::size_t bytes = 0;
  for (const limiter::Descriptor& descriptor : check.descriptors) {
    entries += descriptor.entries.size() + 1;
    bytes += text_bytes(descriptor);
    if (entries > kMaxDescribedEntries || bytes > kMaxDescribedTextBytes) break;
    descriptors.push_back(describe(descriptor));
  }
  const std::size_t left_out = check.descriptors.size() - descriptors.size();
  Metadata::Map map{{"descriptors", {.value = std::move(descriptors)}}};
  if (left_out > 0) map.emplace_back("descriptorsLeftOut", number(left_out));
  map.emplace_back("domain", Metadata{.value = std::string{check.domain}});
  if (check.hits_addend != 0) map.emplace_back("hitsAddend", number(check.hits_addend));
  return map;
}

Metadata describe_decider(const Verdict& verdict) {
  const Status& status = *decider_of(verdict);
  const auto index = static_cast<std::uint64_t>(&status - verdict.statuses.data());
  Metadata::Map map;
  if (status.degraded) map.emplace_back("answer", Metadata{.value = std::string{to_string(*status.degraded)}});
  map.emplace_back("descriptor", number(index));
  if (status.limit != nullptr) map.emplace_back("limit", Metadata{.value = decider_limit(status)});
  map.emplace_back("over", Metadata{.value = status.decision.refused()});
  if (status.limit != nullptr) map.emplace_back("remaining", number(status.remaining));
  map.emplace_back("rule", Metadata{.value = decider_label(status)});
  if (status.degraded) map.emplace_back("store", Metadata{.value = std::string{to_string(status.decision.cause)}});
  return {.value = std::move(map)};
}

Metadata joined_metadata(std::span<const Status> statuses) {
  Metadata joined{.value = Metadata::Map{}};
  for (const Status& status : statuses) {
    const bool passed_a_limit = status.code == limiter::Code::ok && status.limit != nullptr && status.rule != nullptr;
    if (passed_a_limit && status.rule->metadata != nullptr) merge_into(joined, *status.rule->metadata);
  }
  return joined;
}

std::vector<NamedValue> headers(const HeaderNames& names, const Status* deciding) {
  if (deciding == nullptr) return {};
  std::vector<NamedValue> headers{{names.limit, fmt::format("{}", deciding->limit->requests_per_unit)},
                                  {names.remaining, fmt::format("{}", deciding->remaining)}};
  if (deciding->reset_seconds) headers.push_back({names.reset, fmt::format("{}", *deciding->reset_seconds)});
  return headers;
}

void fill(google::protobuf::Value& to, const Metadata& from);

void fill(google::protobuf::Struct& to, const Metadata::Map& from) {
  for (const auto& [key, value] : from) fill((*to.mutable_fields())[key], value);
}

void fill(google::protobuf::Value& to, const Metadata& from) {
  if (std::holds_alternative<std::nullptr_t>(from.value)) {
    to.set_null_value(google::protobuf::NULL_VALUE);
  } else if (const bool* flag = std::get_if<bool>(&from.value)) {
    to.set_bool_value(*flag);
  } else if (const double* real = std::get_if<double>(&from.value)) {
    to.set_number_value(*real);
  } else if (const std::string* text = std::get_if<std::string>(&from.value)) {
    to.set_string_value(*text);
  } else if (const Metadata::List* list = std::get_if<Metadata::List>(&from.value)) {
    auto* values = to.mutable_list_value();
    for (const Metadata& item : *list) fill(*values->add_values(), item);
  } else {
    fill(*to.mutable_struct_value(), std::get<Metadata::Map>(from.value));
  }
}

template <class Headers>
void fill(Headers& to, const std::vector<NamedValue>& from) {
  for (const NamedValue& header : from) {
    auto* added = to.Add();
    added->set_key(header.key);
    added->set_value(header.value);
  }
}

}  // namespace

ReplyExtender::ReplyExtender(ReplyOptions options)
    : options_{std::move(options)},
      active_{options_.response_headers || options_.request_headers || options_.decider_header ||
              options_.any_dynamic_metadata()} {}

void ReplyExtender::note(std::span<const limiter::Check> checks) {
  if (!options_.dynamic_metadata) return;
  for (const limiter::Check& check : checks) requests_.insert_or_assign(check.ticket, describe(check));
}

ReplyExtras ReplyExtender::extend(std::uint64_t ticket, const Verdict& verdict) {
  PENSTOCK_DCHECK(verdict.error == nullptr);
  ReplyExtras extras;
  if (options_.response_headers) extras.response_headers = headers(*options_.response_headers, verdict.deciding);
  if (options_.request_headers) extras.request_headers = headers(*options_.request_headers, verdict.deciding);
  if (const Status* const decider = options_.decider_header ? decider_of(verdict) : nullptr) {
    extras.response_headers.push_back({std::string{kDeciderHeader}, decider_item(*decider)});
  }
  if (options_.any_dynamic_metadata()) {
    Metadata metadata = dynamic_metadata(ticket, verdict);
    if (!std::get<Metadata::Map>(metadata.value).empty()) extras.dynamic_metadata = std::move(metadata);
  }
  return extras;
}

Metadata ReplyExtender::dynamic_metadata(std::uint64_t ticket, const Verdict& verdict) {
  Metadata::Map map;
  if (options_.dynamic_metadata) {
    const auto found = requests_.find(ticket);
    PENSTOCK_CHECK(found != requests_.end());
    map = std::move(found->second);
    requests_.erase(found);
    Metadata joined = joined_metadata(verdict.statuses);
    if (!std::get<Metadata::Map>(joined.value).empty()) map.emplace_back("metadata", std::move(joined));
  }
  if (options_.decider_metadata && decider_of(verdict) != nullptr) {
    map.emplace_back("penstock", describe_decider(verdict));
  }
  return {.value = std::move(map)};
}

void append_extras(const ReplyExtras& extras, std::string& out) {
  // The fields of a message that stand behind those of another one are parts of one message.
  envoy::service::ratelimit::v3::RateLimitResponse rest;
  fill(*rest.mutable_response_headers_to_add(), extras.response_headers);
  fill(*rest.mutable_request_headers_to_add(), extras.request_headers);
  if (extras.dynamic_metadata) {
    fill(*rest.mutable_dynamic_metadata(), std::get<Metadata::Map>(extras.dynamic_metadata->value));
  }
  google::protobuf::io::StringOutputStream stream{&out};
  google::protobuf::io::CodedOutputStream coded{&stream};
  coded.SetSerializationDeterministic(true);
  PENSTOCK_CHECK(rest.SerializeToCodedStream(&coded));
}

}  // namespace penstock::protocol
