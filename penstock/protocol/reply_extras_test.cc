// What replies carry beyond codes and statuses, through a limiter, as bytes and as JSON.

#include "penstock/protocol/reply_extras.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "penstock/limiter/limiter.h"
#include "penstock/protocol/decider.h"
#include "penstock/protocol/json.h"
#include "penstock/protocol/rls_message.h"
#include "penstock/protocol/testing/grpc_peers.h"

namespace penstock::protocol {
namespace {

using envoy::service::ratelimit::v3::RateLimitResponse;
using limiter::Descriptor;
using rules::Entry;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Instant kNow = instant_from_unix_seconds(1'800'000'012);
constexpr const char* kRules = R"(
domain: d
descriptors:
  - key: one
    rate_limit: {unit: minute, requests_per_unit: 2}
    metadata: {tier: gold, nested: {a: 1}}
  - key: two
    rate_limit: {unit: minute, requests_per_unit: 9}
    metadata: {tier: silver, nested: {b: [1.5, null, true]}}
  - key: smooth
    value: secret
    rate_limit: {unit: second, requests_per_unit: 5, algorithm: gcra, burst: 2}
  - key: free
    rate_limit: {unlimited: true}
    metadata: {never: told}
)";

// What a reply with these options is, as the client's JSON of the bytes; our own JSON is compared with it.
class ReplyExtrasTest : public ::testing::Test, private limiter::VerdictSink {
 protected:
  ReplyExtrasTest() { limiter_.use_rules(testing::rules_of(kRules)); }

  std::string ask(const ReplyOptions& options, std::vector<std::vector<Entry>> entries) {
    std::vector<Descriptor> descriptors;
    for (const auto& each : entries) descriptors.push_back({.entries = each});
    return ask(options, {.domain = "d", .descriptors = descriptors});
  }

  std::string ask(const ReplyOptions& options, limiter::Check check) {
    ReplyExtender extender{options};
    check.ticket = 7;
    extender.note({&check, 1});
    extender_ = &extender;
    limiter_.decide({&check, 1}, kNow, *this);
    return json_;
  }

  RateLimitResponse response_;

 private:
  void on_verdict(std::uint64_t ticket, const limiter::Verdict& verdict) override {
    const ReplyExtras extras = extender_->extend(ticket, verdict);
    std::string bytes, ours;
    encode_response(verdict, bytes);
    append_extras(extras, bytes);
    ASSERT_TRUE(response_.ParseFromString(bytes));
    json_.clear();
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(response_, &json_).ok());
    encode_json(verdict, extras, ours);
    RateLimitResponse from_ours;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(ours, &from_ours).ok()) << ours;
    EXPECT_EQ(from_ours.DebugString(), response_.DebugString());
  }

  std::unique_ptr<store::Store> store_ = testing::small_store();
  limiter::Limiter limiter_{*store_, {.counter_key = {1, 2}}};
  ReplyExtender* extender_ = nullptr;
  std::string json_;
};

std::vector<std::string> shown(
    const google::protobuf::RepeatedPtrField<envoy::config::core::v3::HeaderValue>& headers) {
  std::vector<std::string> out;
  for (const auto& header : headers) out.push_back(header.key() + ": " + header.value());
  return out;
}

TEST_F(ReplyExtrasTest, AreNoneUnlessAsked) {
  const std::string json = ask({}, {{{"one", "x"}}});
  EXPECT_FALSE(ReplyExtender{{}}.active());
  EXPECT_THAT(json, Not(HasSubstr("ToAdd")));
  EXPECT_THAT(json, Not(HasSubstr("dynamicMetadata")));
}

TEST_F(ReplyExtrasTest, TellTheLimitThatDecidedInThreeHeaders) {
  const ReplyOptions options{.response_headers = HeaderNames{}, .request_headers = HeaderNames{.limit = "x-limit"}};
  ask(options, {{{"two", "x"}}, {{"one", "x"}}});
  EXPECT_THAT(shown(response_.response_headers_to_add()),
              ElementsAre("RateLimit-Limit: 2", "RateLimit-Remaining: 1", "RateLimit-Reset: 48"));
  EXPECT_THAT(shown(response_.request_headers_to_add()),
              ElementsAre("x-limit: 2", "RateLimit-Remaining: 1", "RateLimit-Reset: 48"));
}

TEST_F(ReplyExtrasTest, TellNoHeadersWhereNothingLimitsAndNoResetWhereNoWaitHelps) {
  const ReplyOptions options{.response_headers = HeaderNames{}, .decider_header = true, .decider_metadata = true};
  ask(options, {{{"nothing", "x"}}, {{"free", "x"}}});
  EXPECT_THAT(shown(response_.response_headers_to_add()), IsEmpty());
  EXPECT_FALSE(response_.has_dynamic_metadata());
  const Entry entry{"smooth", "secret"};
  const Descriptor never{.entries = {&entry, 1}, .hits = 3};
  ask({.response_headers = HeaderNames{}}, {.domain = "d", .descriptors = {&never, 1}});
  EXPECT_THAT(shown(response_.response_headers_to_add()), ElementsAre("RateLimit-Limit: 5", "RateLimit-Remaining: 2"));
}

TEST_F(ReplyExtrasTest, TakeNamesThatAreEmpty) {
  ask({.response_headers = HeaderNames{.limit = ""}}, {{{"one", "x"}}});
  EXPECT_EQ(response_.response_headers_to_add(0).key(), "");
}

TEST_F(ReplyExtrasTest, TellTheRequestInDynamicMetadataAndJoinThatOfRules) {
  const std::vector<Entry> one{{"one", "x"}, {"two", "a=b"}}, two{{"two", "y"}}, first{{"one", "y"}};
  const std::vector<Descriptor> descriptors{{.entries = one},
                                            {.entries = first, .hits = 0},
                                            {.entries = two},
                                            {.entries = two, .limit = limiter::Override{9, 3}}};
  ask({.dynamic_metadata = true}, {.domain = "d", .descriptors = descriptors, .hits_addend = 2});
  const std::string shown_metadata = response_.dynamic_metadata().DebugString();
  std::string json;
  google::protobuf::util::JsonPrintOptions print;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(response_.dynamic_metadata(), &json, print).ok());
  RateLimitResponse expected;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"dynamicMetadata":{"domain":"d","hitsAddend":2,"descriptors":[{"entries":["one=x","two=a=b"]},
                      {"entries":["one=y"],"hitsAddend":0},{"entries":["two=y"]},
                      {"entries":["two=y"],"limit":"requests_per_unit:9 unit:HOUR"}],
                      "metadata":{"tier":"gold","nested":{"a":1,"b":[1.5,null,true]}}}})",
                  &expected)
                  .ok());
  EXPECT_EQ(shown_metadata, expected.dynamic_metadata().DebugString()) << json;
}

TEST_F(ReplyExtrasTest, LeaveOutMetadataOfRulesThatRefuseAndNeverChangeARule) {
  const ReplyOptions options{.dynamic_metadata = true};
  for (int i = 0; i < 2; ++i) {
    const std::string both = ask(options, {{{"one", "z"}}, {{"two", "z"}}});
    EXPECT_THAT(both, HasSubstr(R"("tier":"gold")"));
  }
  EXPECT_THAT(ask(options, {{{"one", "z"}}, {{"two", "z"}}}), HasSubstr(R"("tier":"silver")")) << "one is over";
  const std::string alone = ask(options, {{{"one", "other"}}});
  EXPECT_THAT(alone, HasSubstr(R"("nested":{"a":1})")) << "as in the rule, whatever was joined before";
  EXPECT_THAT(ask(options, {{{"one", "z"}}}), Not(HasSubstr("\"metadata\"")));
  EXPECT_THAT(ask(options, {{{"free", "z"}}}), Not(HasSubstr("never")));
}

TEST_F(ReplyExtrasTest, LeaveOutDescriptorsBeyondTheMostAndSaySo) {
  const std::vector<Entry> entries(9, Entry{"k", "v"});
  const std::vector<Descriptor> descriptors(150, Descriptor{.entries = entries});
  EXPECT_THAT(ask({.dynamic_metadata = true}, {.domain = "d", .descriptors = descriptors}),
              HasSubstr(R"("descriptorsLeftOut":50)"));
  const std::string large(kMaxDescribedTextBytes, 'x');
  EXPECT_THAT(ask({.dynamic_metadata = true}, {{{"k", large}}}), HasSubstr(R"("descriptorsLeftOut":1)"));
}

TEST_F(ReplyExtrasTest, NameWhoDecidedWithoutAnyValue) {
  const ReplyOptions options{.decider_header = true, .decider_metadata = true};
  ask(options, {{{"two", "caller"}}, {{"smooth", "secret"}}});
  const auto& header = response_.response_headers_to_add(0);
  EXPECT_EQ(header.key(), "x-penstock-limit");
  EXPECT_EQ(header.value(), R"("d.smooth_2bb80d53";limit="5 per second, gcra, burst 2";remaining=1)");
  ask(options, {{{"smooth", "secret"}}});
  ask(options, {{{"smooth", "secret"}}});
  EXPECT_EQ(response_.response_headers_to_add(0).value(),
            R"("d.smooth_2bb80d53";limit="5 per second, gcra, burst 2";remaining=0;over)");
  const auto& fields = response_.dynamic_metadata().fields().at("penstock").struct_value().fields();
  EXPECT_EQ(fields.at("rule").string_value(), "d.smooth_2bb80d53");
  EXPECT_EQ(fields.at("limit").string_value(), "5 per second, gcra, burst 2");
  EXPECT_TRUE(fields.at("over").bool_value());
  EXPECT_EQ(fields.at("descriptor").number_value(), 0);
  EXPECT_EQ(response_.dynamic_metadata().fields_size(), 1) << "nothing of the request unless asked";
  EXPECT_THAT(response_.DebugString(), Not(HasSubstr("secret")));
}

TEST_F(ReplyExtrasTest, NameALimitThatCameWithTheRequest) {
  const Entry entry{"one", "x"};
  const Descriptor descriptor{.entries = {&entry, 1}, .limit = limiter::Override{4, 2}};
  ask({.decider_header = true, .decider_metadata = true}, {.domain = "d", .descriptors = {&descriptor, 1}});
  EXPECT_THAT(response_.response_headers_to_add(0).value(), HasSubstr(R"(override;limit="4 per minute, fixed_window)"));
}

// A strict parser of an RFC 9651 string; nothing if it is none.
std::optional<std::string> parse_structured_string(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    char c = text[i];
    if (c < ' ' || c > '~' || c == '"') return std::nullopt;
    if (c == '\\') {
      c = text[++i];
      if (i + 1 >= text.size() || (c != '"' && c != '\\')) return std::nullopt;
    }
    out += c;
  }
  return out;
}

TEST(StructuredString, IsStrictAndCanBeUndone) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {R"(a"b)", R"(a"b)"},
      {R"(c\d)", R"(c\d)"},
      {"e,f;g=1", "e,f;g=1"},
      {"\xC3\xBC", "%c3%bc"},
      {"", ""},
      {"a\nb\x7f", "a%0ab%7f"},
      {"50%", "50%25"},
      {std::string(300, 'x'), std::string(300, 'x')},
  };
  for (const auto& [text, parsed] : table) EXPECT_EQ(parse_structured_string(structured_string(text)), parsed) << text;
}

TEST(DeciderLabel, IsCutWhereItIsLong) {
  rules::Rule rule;
  rule.label = std::string(5'000, 'x');
  limiter::Status status{.rule = &rule};
  EXPECT_EQ(decider_label(status).size(), kMaxLabelBytes);
  EXPECT_TRUE(decider_label(status).ends_with("x..."));
}

}  // namespace
}  // namespace penstock::protocol
