#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/rules/findings.h"
#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string repeat(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(HostileFile, ThatNestsTooDeeplyIsRefusedWithTheBound) {
  for (const char* text : {"[", "{a: ", "- ", "? "}) {
    EXPECT_THAT(errors_of(repeat(text, 100'000)), ElementsAre(HasSubstr("at most 500 levels"))) << text;
  }
}

TEST(HostileFile, MayNestDescriptorsFarDeeperThanAnyoneNeeds) {
  std::string text = "{domain: d";
  for (int i = 0; i < 200; ++i) text += ", descriptors: [{key: k";
  text += repeat("}]", 200) + "}";
  EXPECT_TRUE(load_text(text).has_value());
}

TEST(HostileFile, WithAliasesOfAliasesIsRefusedWithTheBound) {
  std::string bomb = "a0: &a0 {key: k}\n";
  std::string merging = "a0: &a0 {key: k}\n";
  for (int i = 1; i < 40; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
    merging += fmt::format("a{0}: &a{0} {{<<: [*a{1}, *a{1}, *a{1}, *a{1}]}}\n", i, i - 1);
  }
  EXPECT_THAT(errors_of(bomb), ElementsAre(HasSubstr("aliases add too many values: at most 1000000")));
  EXPECT_THAT(errors_of(merging), ElementsAre(HasSubstr("aliases add too many values: at most 1000000")));
}

TEST(HostileFile, WithAnAliasThatHoldsItselfIsRefused) {
  EXPECT_THAT(errors_of("domain: d\ndescriptors: &x [{key: k, descriptors: *x}]"),
              ElementsAre(AllOf(HasSubstr("r.yaml:2:40"), HasSubstr("'x' contains itself"))));
  EXPECT_THAT(errors_of("domain: *nowhere"), ElementsAre(HasSubstr("unknown anchor 'nowhere'")));
}

TEST(HostileFile, ThatIsTooLargeIsRefusedUnread) {
  EXPECT_THAT(errors_of(std::string((std::size_t{64} << 20) + 1, ' ')), ElementsAre(HasSubstr("at most 67108864")));
}

TEST(HostileFile, WithHugeTextsIsQuotedInShort) {
  const std::vector<std::string> errors = errors_of("domain: d\n" + std::string(1000, 'x') + ": 1\n");
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_LT(errors[0].size(), 200u);
  const std::string value(5'000'000, 'v');
  const std::shared_ptr<const RuleSet> rules =
      rules_of("domain: d\ndescriptors: [{key: k, value: " + value + ", rate_limit: {unlimited: true}}]");
  EXPECT_EQ(limit_of(*rules, "d", {{"k", value}}), "unlimited");
}

TEST(HostileFile, GetsABoundedNumberOfErrors) {
  const std::vector<std::string> errors = errors_of("domain: d\n" + repeat("unknwon: 1\n", 100'000));
  ASSERT_THAT(errors, SizeIs(Findings::kMaxKept + 1));
  EXPECT_THAT(errors.back(), HasSubstr("1000 are listed at most"));
}

TEST(HostileFile, QuotesNoControlCharacters) {
  EXPECT_EQ(in_quotes("a\nb\x01\x7f"), "'a\\nb\\x01\\x7f'");
  EXPECT_EQ(in_quotes(std::string(63, 'a') + "\u00fc"), "'" + std::string(63, 'a') + "...'");
  EXPECT_EQ(in_quotes("\u00fc"), "'\u00fc'");
}

}  // namespace
}  // namespace penstock::rules
