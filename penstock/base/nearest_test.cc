#include "penstock/base/nearest.h"

#include <array>

#include <gtest/gtest.h>

namespace penstock {
namespace {

constexpr std::array<std::string_view, 4> kFields = {"rate_limit", "requests_per_unit", "unit", "descriptors"};

TEST(Nearest, FindsTheNameBehindCommonSlips) {
  EXPECT_EQ(nearest("rate-limit", kFields), "rate_limit");
  EXPECT_EQ(nearest("rateLimit", kFields), "rate_limit");
  EXPECT_EQ(nearest("request_per_unit", kFields), "requests_per_unit");
  EXPECT_EQ(nearest("uint", kFields), "unit");
  EXPECT_EQ(nearest("Descriptors", kFields), "descriptors");
}

TEST(Nearest, SaysNothingWhereNoNameIsClose) {
  EXPECT_EQ(nearest("colour", kFields), std::nullopt);
  EXPECT_EQ(nearest("", kFields), std::nullopt);
  EXPECT_EQ(nearest(std::string(1000, 'u'), kFields), std::nullopt);
}

}  // namespace
}  // namespace penstock
