#include "penstock/protocol/grpc_status.h"

#include <gtest/gtest.h>

namespace penstock::protocol {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string encoded(std::string_view text) {
  std::string out;
  append_percent_encoded(text, out);
  return out;
}

TEST(GrpcMessageText, IsReadAsItWasWritten) {
  for (const std::string text : {"", "plain", "100 %", "\xc3\xbc and \n", "%41"}) {
    std::string encoded;
    append_percent_encoded(text, encoded);
    EXPECT_EQ(percent_decoded(encoded), text);
  }
  EXPECT_EQ(percent_decoded("5% off, %4, %zz, %"), "5% off, %4, %zz, %") << "what is no escape stands for itself";
}

TEST(GrpcStatus, EncodesWhatIsNotPlainTextByPercents) {
  EXPECT_EQ(encoded("plain text ~!"), "plain text ~!");
  EXPECT_EQ(encoded("100%\n"), "100%25%0A");
  EXPECT_EQ(encoded("\xc3\xbc\x7f"), "%C3%BC%7F");
}

TEST(GrpcStatus, CutsATextThatIsTooLong) {
  EXPECT_EQ(encoded(std::string(kMaxStatusText + 1, 'x')).size(), kMaxStatusText);
}

TEST(GrpcStatus, NumbersEveryCodeAsGrpcDoes) {
  EXPECT_EQ(status_number(ErrorCode::ok), "0");
  EXPECT_EQ(status_number(ErrorCode::unimplemented), "12");
  EXPECT_EQ(status_number(ErrorCode::unauthenticated), "16");
}

TEST(GrpcTimeout, ReadsUpToEightDigitsAndAUnit) {
  const struct {
    std::string_view text;
    Nanoseconds timeout;
  } cases[] = {
      {"1H", hours{1}},        {"2M", minutes{2}},     {"3S", seconds{3}},     {"20m", milliseconds{20}},
      {"5u", microseconds{5}}, {"7n", Nanoseconds{7}}, {"0m", Nanoseconds{0}}, {"99999999S", seconds{99'999'999}}};
  for (const auto& each : cases) EXPECT_EQ(parse_timeout(each.text), each.timeout) << each.text;
}

TEST(GrpcTimeout, TakesMoreThanThreeCenturiesForEver) {
  EXPECT_EQ(parse_timeout("99999999H"), Nanoseconds::max());
  EXPECT_EQ(store_deadline(instant_from_unix_seconds(1'800'000'000), Nanoseconds::max()), Instant::max());
}

TEST(GrpcTimeout, RefusesAnythingElse) {
  for (const std::string_view text :
       {"", "m", "10", "100000000m", "1x", "-1m", "+1m", " 1m", "1 m", "1.5S", "1mm", "1h"}) {
    EXPECT_EQ(parse_timeout(text), std::nullopt) << text;
  }
}

TEST(GrpcTimeout, LeavesTheAnswerTimeToTravel) {
  const Instant began = instant_from_unix_seconds(1'800'000'000);
  EXPECT_EQ(store_deadline(began, milliseconds{20}) - began, milliseconds{18});
  EXPECT_EQ(store_deadline(began, milliseconds{4}) - began, milliseconds{3});
  EXPECT_EQ(store_deadline(began, Nanoseconds{0}), began);
}

TEST(GrpcContentType, IsGrpcWithOrWithoutProtoAndParameters) {
  for (const std::string_view text : {"application/grpc", "application/grpc+proto", "Application/GRPC",
                                      "application/grpc; charset=utf-8", "application/grpc+proto ;v=1"}) {
    EXPECT_TRUE(is_grpc_content_type(text)) << text;
  }
  for (const std::string_view text : {"", "application/json", "application/grpc+json", "application/grpc-web",
                                      "application/grpcx", "text/plain; application/grpc"}) {
    EXPECT_FALSE(is_grpc_content_type(text)) << text;
  }
}

}  // namespace
}  // namespace penstock::protocol
