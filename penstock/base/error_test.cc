#include "penstock/base/error.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Error, IsWrittenWithItsPlaceSoThatAnEditorCanJumpToIt) {
  EXPECT_EQ(to_string(Error{.code = ErrorCode::invalid_argument, .message = "bad", .place = Place{"a.yaml", 3, 7}}),
            "a.yaml:3:7: bad");
  EXPECT_EQ(to_string(Error{.code = ErrorCode::invalid_argument, .message = "bad", .place = Place{"a.yaml"}}),
            "a.yaml: bad");
  EXPECT_EQ(to_string(Error{.code = ErrorCode::invalid_argument, .message = "bad", .place = {}}), "bad");
}

TEST(ErrorCode, HasTheNumbersAndNamesOfGrpc) {
  EXPECT_EQ(static_cast<int>(ErrorCode::unimplemented), 12);
  EXPECT_EQ(to_string(ErrorCode::unimplemented), "UNIMPLEMENTED");
  EXPECT_EQ(to_string(ErrorCode::unauthenticated), "UNAUTHENTICATED");
}

}  // namespace
}  // namespace penstock
