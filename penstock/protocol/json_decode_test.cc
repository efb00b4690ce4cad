#include <gtest/gtest.h>

#include "penstock/protocol/json.h"

namespace penstock::protocol {
namespace {

// A decoded text with all that it borrows from.
class Decoded {
 public:
  explicit Decoded(std::string_view text) {
    texts_.reserve(text.size());
    result_ = decode_json(text, texts_, batch_);
    if (result_) batch_.commit(0, Instant::max());
  }

  [[nodiscard]] bool ok() const { return result_.has_value(); }
  [[nodiscard]] std::string error() const { return result_ ? "" : result_.error().message; }
  [[nodiscard]] const limiter::Check& check() { return batch_.checks()[0]; }
  [[nodiscard]] const limiter::Descriptor& descriptor() { return check().descriptors[0]; }

 private:
  std::string texts_;
  CheckBatch batch_;
  Result<void> result_;
};

TEST(JsonDecode, ReadsEveryFieldByBothOfItsNames) {
  for (const std::string_view text :
       {R"({"domain":"d","hitsAddend":3,"descriptors":[{"entries":[{"key":"k","value":"v"},{"key":"k2"}],
            "limit":{"requestsPerUnit":5,"unit":"HOUR"},"hitsAddend":"0","isNegativeHits":true},{}]})",
        R"({"descriptors":[{"is_negative_hits":true,"hits_addend":0,"limit":{"unit":3,"requests_per_unit":"5.0"},
            "entries":[{"value":"v","key":"k"},{"value":"","key":"k2"}]},{}],"hits_addend":"3e0","domain":"d"})"}) {
    Decoded decoded{text};
    ASSERT_TRUE(decoded.ok()) << decoded.error();
    EXPECT_EQ(decoded.check().domain, "d");
    EXPECT_EQ(decoded.check().hits_addend, 3U);
    ASSERT_EQ(decoded.check().descriptors.size(), 2U);
    const limiter::Descriptor& descriptor = decoded.descriptor();
    ASSERT_EQ(descriptor.entries.size(), 2U);
    EXPECT_EQ(descriptor.entries[0].key, "k");
    EXPECT_EQ(descriptor.entries[0].value, "v");
    EXPECT_EQ(descriptor.entries[1].value, "");
    ASSERT_TRUE(descriptor.limit);
    EXPECT_EQ(descriptor.limit->requests_per_unit, 5U);
    EXPECT_EQ(descriptor.limit->unit, 3);
    EXPECT_EQ(descriptor.hits, 0U);
    EXPECT_TRUE(descriptor.negative_hits);
    EXPECT_FALSE(decoded.check().descriptors[1].limit);
    EXPECT_FALSE(decoded.check().descriptors[1].hits);
  }
}

TEST(JsonDecode, TakesNullForAFieldAsAbsent) {
  Decoded decoded{R"({"domain":null,"hitsAddend":null,"descriptors":[{"entries":[{"key":"k","value":null}],
                      "limit":null,"hitsAddend":null,"isNegativeHits":null},{"entries":null}]})"};
  ASSERT_TRUE(decoded.ok()) << decoded.error();
  EXPECT_EQ(decoded.check().domain, "");
  EXPECT_FALSE(decoded.descriptor().limit);
  EXPECT_FALSE(decoded.descriptor().hits);
  EXPECT_EQ(decoded.descriptor().entries[0].value, "");
}

TEST(JsonDecode, ResolvesEscapes) {
  Decoded decoded{
      R"({"domain":"h\u0069ts","descriptors":[{"entries":[{"key":"\ud83d\ude00","value":"\u00fc\n\/\""}]}]})"};
  ASSERT_TRUE(decoded.ok()) << decoded.error();
  EXPECT_EQ(decoded.check().domain, "hits");
  EXPECT_EQ(decoded.descriptor().entries[0].key, "\xf0\x9f\x98\x80");
  EXPECT_EQ(decoded.descriptor().entries[0].value, "\xc3\xbc\n/\"");
}

TEST(JsonDecode, ReadsLongTextsWhole) {
  const std::string value(60'000, 'x');
  Decoded decoded{R"({"domain":"d","descriptors":[{"entries":[{"key":")" + value + R"(\n","value":"\t)" + value +
                  R"("}]}]})"};
  ASSERT_TRUE(decoded.ok()) << decoded.error();
  EXPECT_EQ(decoded.descriptor().entries[0].key, value + "\n");
  EXPECT_EQ(decoded.descriptor().entries[0].value, "\t" + value);
}

TEST(JsonDecode, TakesUnitsByNumberThatHaveNoName) {
  for (const int unit : {0, 7, 8, 99, -1, -2'147'483'647 - 1, 2'147'483'647}) {
    Decoded decoded{R"({"descriptors":[{"limit":{"unit":)" + std::to_string(unit) + "}}]}"};
    ASSERT_TRUE(decoded.ok()) << decoded.error();
    EXPECT_EQ(decoded.descriptor().limit->unit, unit);
  }
}

TEST(JsonDecode, AllowsWhiteSpaceAroundAnything) {
  EXPECT_TRUE(Decoded{" \n\t{ \"domain\" : \"d\" , \"descriptors\" : [ { } ] } \r\n"}.ok());
}

TEST(JsonDecode, SaysWhatIsWrongWithAnythingElse) {
  const struct {
    std::string_view text;
    std::string_view error;
  } cases[] = {
      {"", "no valid JSON at byte 0"},
      {"domain: x", "no valid JSON at byte 0"},
      {"null", "the request is null; an object is accepted"},
      {"[]", "the request is a list; an object is accepted"},
      {"7", "the request is a number"},
      {"true", "the request is true"},
      {R"("text")", "the request is a string"},
      {R"({} x)", "after the object, at byte 3"},
      {R"({}{})", "after the object, at byte 2"},
      {"\xef\xbb\xbf{}", "no valid JSON at byte 0"},
      {R"({"domain":"d",})", "no valid JSON"},
      {R"({"domain":"d")", "no valid JSON"},
      {R"({"domain":)", "no valid JSON"},
      {R"({domain:"d"})", "no valid JSON"},
      {R"({'domain':'d'})", "no valid JSON"},
      {R"(/**/{})", "no valid JSON"},
      {"{\"domain\":\"\xff\"}", "no valid JSON"},
      {"{\"domain\":\"\n\"}", "no valid JSON"},
      {R"({"domain":"\ud800"})", "no valid JSON"},
      {R"({"domain":"\udc00"})", "no valid JSON"},
      {R"({"domain":"\ud800\u0041"})", "no valid JSON"},
      {R"({"domian":"d"})", "unknown field \"domian\"; known are domain, descriptors, hitsAddend"},
      {R"({"Domain":"d"})", "unknown field \"Domain\""},
      {R"({"domain":"d","domain":"d"})", "field \"domain\" stands twice"},
      {R"({"hitsAddend":1,"hits_addend":1})", "field \"hits_addend\" stands twice"},
      {R"({"domain":5})", "domain is a number; a string is accepted"},
      {R"({"domain":{}})", "domain is an object; a string is accepted"},
      {R"({"descriptors":{}})", "descriptors is an object; a list is accepted"},
      {R"({"descriptors":[null]})", "an item of descriptors is null; an object is accepted"},
      {R"({"descriptors":[[]]})", "an item of descriptors is a list; an object is accepted"},
      {R"({"descriptors":["a"]})", "an item of descriptors is a string; an object is accepted"},
      {R"({"descriptors":[{"entries":[7]}]})", "an item of entries is a number; an object is accepted"},
      {R"({"descriptors":[{"entries":[{"key":5}]}]})", "key is a number; a string is accepted"},
      {R"({"descriptors":[{"entries":[{"key":[[[["k"]]]]}]}]})", "key is a list; a string is accepted"},
      {R"({"descriptors":[{"limit":[]}]})", "limit is a list; an object is accepted"},
      {R"({"descriptors":[{"limit":{"unit":"hour"}}]})", "unit is \"hour\"; accepted are UNKNOWN, SECOND, MINUTE"},
      {R"({"descriptors":[{"limit":{"unit":"WEEK"}}]})", "unit is \"WEEK\""},
      {R"({"descriptors":[{"limit":{"unit":"3"}}]})", "unit is \"3\""},
      {R"({"descriptors":[{"limit":{"unit":1.5}}]})", "unit is 1.5; a number of 32 bits is accepted"},
      {R"({"descriptors":[{"limit":{"unit":2147483648}}]})", "unit is 2147483648"},
      {R"({"descriptors":[{"limit":{"unit":true}}]})", "unit is true; a number"},
      {R"({"descriptors":[{"limit":{"requestsPerUnit":4294967296}}]})", "from 0 to 4294967295"},
      {R"({"descriptors":[{"hitsAddend":1.5}]})",
       "hitsAddend is \"1.5\"; a whole number from 0 to 18446744073709551615"},
      {R"({"descriptors":[{"hitsAddend":-1}]})", "hitsAddend is \"-1\""},
      {R"({"descriptors":[{"hitsAddend":" 1"}]})", "hitsAddend is \" 1\""},
      {R"({"descriptors":[{"hitsAddend":"18446744073709551616"}]})", "hitsAddend is \"18446744073709551616\""},
      {R"({"descriptors":[{"hitsAddend":{"value":2}}]})", "hitsAddend is an object; a number is accepted"},
      {R"({"hitsAddend":4294967296})", "from 0 to 4294967295"},
      {R"({"hitsAddend":1e400})", "hitsAddend is \"1e400\""},
      {R"({"descriptors":[{"isNegativeHits":"true"}]})", "isNegativeHits is a string; true or false is accepted"},
      {R"({"descriptors":[{"isNegativeHits":1}]})", "isNegativeHits is a number; true or false is accepted"},
  };
  for (const auto& each : cases) {
    const Decoded decoded{each.text};
    EXPECT_FALSE(decoded.ok()) << each.text;
    EXPECT_TRUE(decoded.error().contains(each.error)) << each.text << "\n" << decoded.error();
  }
}

// BR-007 of the project's list of bug reports: elsewhere such a cost came back as an error of the store.
TEST(JsonDecode, Br007CostIsAWholeNumberOrRefusedWithAReason) {
  const auto with_hits = [](const std::string& hits) {
    return Decoded{R"({"descriptors":[{"entries":[{"key":"k"}],"hitsAddend":)" + hits + "}]}"};
  };
  for (const char* hits :
       {"1.5", "-1", "NaN", "\"NaN\"", "99999999999999999999", "1e400", "\"three\"", "\"\"", "true"}) {
    EXPECT_FALSE(with_hits(hits).ok()) << hits;
  }
  EXPECT_EQ(with_hits("1e2").descriptor().hits, 100u);
  EXPECT_EQ(with_hits("\"3\"").descriptor().hits, 3u) << "as the JSON of protobuf has numbers of 64 bits";
  EXPECT_FALSE(with_hits("null").descriptor().hits.has_value());
}

TEST(JsonDecode, IsNotExhaustedByDepth) {
  EXPECT_FALSE(Decoded{std::string(1'000'000, '[')}.ok());
  EXPECT_FALSE(Decoded{R"({"descriptors":)" + std::string(1'000'000, '[')}.ok());
}

TEST(JsonDecode, LeavesNothingOfABadRequestInTheBatch) {
  CheckBatch batch;
  std::string texts;
  texts.reserve(1000);
  ASSERT_FALSE(decode_json(R"({"descriptors":[{"entries":[{"key":"k"}]}],"x":1})", texts, batch));
  ASSERT_TRUE(decode_json(R"({"domain":"d","descriptors":[{}]})", texts, batch));
  batch.commit(1, Instant::max());
  ASSERT_EQ(batch.checks().size(), 1U);
  ASSERT_EQ(batch.checks()[0].descriptors.size(), 1U);
  EXPECT_TRUE(batch.checks()[0].descriptors[0].entries.empty());
}

}  // namespace
}  // namespace penstock::protocol
