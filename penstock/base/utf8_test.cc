#include "penstock/base/utf8.h"

#include <string_view>

#include <gtest/gtest.h>

namespace penstock {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, TakesWhatRfc3629Takes) {
  for (const std::string_view text : {""sv, "a\0b"sv, "\xC2\x80"sv, "\xDF\xBF"sv, "\xE0\xA0\x80"sv, "\xED\x9F\xBF"sv,
                                      "\xEF\xBF\xBF"sv, "\xF0\x90\x80\x80"sv, "\xF4\x8F\xBF\xBF"sv}) {
    EXPECT_TRUE(is_utf8(text)) << text.size();
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndWhatIsCutShort) {
  for (const std::string_view text : {"\x80"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv, "\xED\xA0\x80"sv,
                                      "\xF0\x8F\xBF\xBF"sv, "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xFF"sv,
                                      "a\xC2"sv, "\xE2\x82"sv, "\xE2\x82\x41"sv, "\xF0\x9F\x98"sv}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

}  // namespace
}  // namespace penstock
