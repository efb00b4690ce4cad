#include <array>
#include <cstddef>
#include <iterator>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "penstock/base/check.h"
#include "penstock/protocol/json.h"

namespace penstock::protocol {
namespace {

std::string_view name_of(limiter::Code code) { return code == limiter::Code::over_limit ? "OVER_LIMIT" : "OK"; }

std::string_view name_of(rules::Unit unit) {
  static constexpr std::array<std::string_view, 8> kNames{"UNKNOWN", "SECOND", "MINUTE", "HOUR",
                                                          "DAY",     "MONTH",  "YEAR",   "WEEK"};
  return kNames[static_cast<std::size_t>(unit)];
}

void append(const limiter::Status& status, std::string& out) {
  auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"code":"{}")", name_of(status.code));
  if (status.limit != nullptr) {
    out += R"(,"currentLimit":{)";
    if (status.limit->requests_per_unit != 0) {
      fmt::format_to(to, R"("requestsPerUnit":{},)", status.limit->requests_per_unit);
    }
    fmt::format_to(to, R"("unit":"{}")", name_of(status.limit->unit));
    if (status.rule != nullptr && !status.rule->name.empty()) {
      fmt::format_to(to, R"(,"name":{})", boost::json::serialize(boost::json::string_view{status.rule->name}));
    }
    out += '}';
  }
  if (status.remaining != 0) fmt::format_to(to, R"(,"limitRemaining":{})", status.remaining);
  if (status.reset_seconds) fmt::format_to(to, R"(,"durationUntilReset":"{}s")", *status.reset_seconds);
  out += '}';
}

std::string quoted(std::string_view text) { return boost::json::serialize(boost::json::string_view{text}); }

void append(std::string_view name, const std::vector<NamedValue>& headers, std::string& out) {
  if (headers.empty()) return;
  fmt::format_to(std::back_inserter(out), R"(,"{}":[)", name);
  for (const NamedValue& header : headers) {
    if (&header != headers.data()) out += ',';
    const std::string key = header.key.empty() ? "" : fmt::format(R"("key":{},)", quoted(header.key));
    fmt::format_to(std::back_inserter(out), R"({{{}"value":{}}})", key, quoted(header.value));
  }
  out += ']';
}

void append(const rules::Metadata& metadata, std::string& out);

void append(const rules::Metadata::Map& map, std::string& out) {
  out += '{';
  for (const auto& [key, value] : map) {
    if (out.back() != '{') out += ',';
    fmt::format_to(std::back_inserter(out), "{}:", quoted(key));
    append(value, out);
  }
  out += '}';
}

void append(const rules::Metadata& metadata, std::string& out) {
  using rules::Metadata;
  if (std::holds_alternative<std::nullptr_t>(metadata.value)) {
    out += "null";
  } else if (const bool* flag = std::get_if<bool>(&metadata.value)) {
    out += *flag ? "true" : "false";
  } else if (const double* number = std::get_if<double>(&metadata.value)) {
    fmt::format_to(std::back_inserter(out), "{}", *number);
  } else if (const std::string* text = std::get_if<std::string>(&metadata.value)) {
    out += quoted(*text);
  } else if (const Metadata::List* list = std::get_if<Metadata::List>(&metadata.value)) {
    out += '[';
    for (const Metadata& item : *list) {
      if (&item != list->data()) out += ',';
      append(item, out);
    }
    out += ']';
  } else {
    append(std::get<Metadata::Map>(metadata.value), out);
  }
}

}  // namespace

void encode_json(const limiter::Verdict& verdict, const ReplyExtras& extras, std::string& out) {
  PENSTOCK_DCHECK(verdict.error == nullptr);
  fmt::format_to(std::back_inserter(out), R"({{"overallCode":"{}")", name_of(verdict.overall));
  if (!verdict.statuses.empty()) {
    out += R"(,"statuses":[)";
    for (const limiter::Status& status : verdict.statuses) {
      if (&status != verdict.statuses.data()) out += ',';
      append(status, out);
    }
    out += ']';
  }
  append("responseHeadersToAdd", extras.response_headers, out);
  append("requestHeadersToAdd", extras.request_headers, out);
  if (extras.dynamic_metadata) {
    out += R"(,"dynamicMetadata":)";
    append(*extras.dynamic_metadata, out);
  }
  out += '}';
}

}  // namespace penstock::protocol
