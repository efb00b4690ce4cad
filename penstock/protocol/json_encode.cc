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

}  // namespace

void encode_json(const limiter::Verdict& verdict, std::string& out) {
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
  out += '}';
}

}  // namespace penstock::protocol
