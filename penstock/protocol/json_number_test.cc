#include "penstock/protocol/json_number.h"

#include <string>

#include <gtest/gtest.h>

namespace penstock::protocol {
namespace {

TEST(JsonInteger, IsReadExactlyFromEveryForm) {
  const struct {
    std::string_view text;
    JsonInteger integer;
  } cases[] = {
      {"0", {0, false}},
      {"-0", {0, true}},
      {"7", {7, false}},
      {"-7", {7, true}},
      {"1.0", {1, false}},
      {"1e0", {1, false}},
      {"1E+2", {100, false}},
      {"10e-1", {1, false}},
      {"1.50e1", {15, false}},
      {"0.0e5", {0, false}},
      {"0e999999999999999999999", {0, false}},
      {"18446744073709551615", {18'446'744'073'709'551'615U, false}},
      {"18446744073709551615.000", {18'446'744'073'709'551'615U, false}},
      {"1.8446744073709551615e19", {18'446'744'073'709'551'615U, false}},
  };
  for (const auto& each : cases) EXPECT_EQ(parse_json_integer(each.text), each.integer) << each.text;
}

TEST(JsonInteger, IsNothingElse) {
  for (const std::string_view text : {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "01",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "0x1",
                                      "1.5",
                                      "15e-1",
                                      "1e-1",
                                      "18446744073709551616",
                                      "1e20",
                                      "1e999999999999999999999",
                                      "NaN",
                                      "one",
                                      "1,0"}) {
    EXPECT_EQ(parse_json_integer(text), std::nullopt) << text;
  }
}

TEST(JsonInteger, MayHaveManyZeros) {
  EXPECT_EQ(parse_json_integer("3." + std::string(100'000, '0')), (JsonInteger{3, false}));
  EXPECT_EQ(parse_json_integer("3" + std::string(100'000, '0') + "e-100000"), (JsonInteger{3, false}));
}

}  // namespace
}  // namespace penstock::protocol
