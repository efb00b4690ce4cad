#include "penstock/yaml/scalar.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace penstock::yaml {
namespace {

TEST(PlainScalar, IsANumberByTheRulesOfYaml11) {
  const std::vector<std::pair<std::string, std::int64_t>> integers{
      {"0", 0},
      {"313", 313},
      {"-7", -7},
      {"+5", 5},
      {"0123", 83},
      {"010", 8},
      {"0o10", 8},
      {"0O17", 15},
      {"0x1F", 31},
      {"0X1f", 31},
      {"-0b11", -3},
      {"0b11", 3},
      {"+0x10", 16},
      {"1_000", 1000},
      {"1__0", 10},
      {"1_", 1},
      {"0_x1", 1},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
  };
  for (const auto& [text, value] : integers) {
    EXPECT_EQ(resolve_plain(text), (Scalar{.type = Type::integer, .integer = value})) << text;
  }
  const std::vector<std::string> others{"1.5",
                                        "1.7",
                                        "1e3",
                                        "1_e3",
                                        "5.",
                                        ".5",
                                        "-.5",
                                        "+1.5e-7",
                                        "09",
                                        "5.0",
                                        ".inf",
                                        "-.Inf",
                                        "+.INF",
                                        ".nan",
                                        ".4_88",
                                        "1e-999",
                                        ".NaN",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551616",
                                        "0x10000000000000000"};
  for (const std::string& text : others) EXPECT_EQ(resolve_plain(text).type, Type::other_number) << text;
}

TEST(PlainScalar, IsABooleanOrNullInEachOfItsSpellings) {
  for (const char* text : {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}) {
    EXPECT_EQ(resolve_plain(text), (Scalar{.type = Type::boolean, .boolean = true})) << text;
  }
  for (const char* text : {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}) {
    EXPECT_EQ(resolve_plain(text), (Scalar{.type = Type::boolean, .boolean = false})) << text;
  }
  for (const char* text : {"", "~", "null", "Null", "NULL"}) EXPECT_EQ(resolve_plain(text).type, Type::null) << text;
}

TEST(PlainScalar, IsTextOtherwise) {
  const std::vector<std::string> texts{
      "oN", "tRue",  "nULL",   "12:30:45", "1:30", "2024-01-01", "0b",    "0x",   "0b12", "08x",
      "1e", "1e+",   ".",      "+",        "-",    "_1",         "1.2.3", "..5",  ".e5",  "192.168.0.0/16",
      "-_", "hello", "39e889", "-1E400",   "+-1",  "0x1G",       "--5",   ".infx"};
  for (const std::string& text : texts) EXPECT_EQ(resolve_plain(text), Scalar{}) << text;
  EXPECT_EQ(resolve_plain(std::string(100'000, '1')).type, Type::other_number);
  EXPECT_EQ(resolve_plain(std::string(100'000, '-')).type, Type::text);
}

TEST(Scalar, IsTextInQuotesAndUnderUnknownTags) {
  EXPECT_EQ(resolve({.text = "5"}).type, Type::text);
  EXPECT_EQ(resolve({.plain = true, .text = "5"}).type, Type::integer);
  EXPECT_EQ(resolve({.plain = true, .tag = "!mine", .text = "5"}).type, Type::text);
  EXPECT_EQ(resolve({.plain = true, .tag = "!!str", .text = "5"}).type, Type::text);
  EXPECT_EQ(resolve({.tag = "!!int", .text = "5"}).type, Type::integer);
  EXPECT_EQ(resolve({.tag = "!!float", .text = "5"}).type, Type::other_number);
}

TEST(Base64, IsDecodedStrictly) {
  const std::vector<std::pair<std::string, std::string>> good{
      {"", ""}, {"aA==", "h"}, {"aGk=", "hi"}, {"aGkh", "hi!"}, {"aGkh\naGkh\r\n", "hi!hi!"}, {"/+8=", "\xff\xef"}};
  for (const auto& [text, bytes] : good) EXPECT_EQ(decode_base64(text), bytes) << text;
  for (const char* text : {"a", "aG", "aGk", "a===", "aGk=a", "=", "aG k=", "aGk==", "aGk-"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace penstock::yaml
