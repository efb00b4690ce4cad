#include "penstock/trial/time_text.h"

#include <chrono>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace penstock::trial {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(TimeText, IsExactBothWays) {
  const std::pair<std::string_view, Nanoseconds> table[] = {
      {"0s", Nanoseconds{0}},
      {"1.5s", milliseconds{1500}},
      {"1m30s", seconds{90}},
      {"2h", hours{2}},
      {"2h0.000000001s", hours{2} + Nanoseconds{1}},
      {"25h1m", hours{25} + minutes{1}},
      {"0.25s", milliseconds{250}},
  };
  for (const auto& [text, time] : table) {
    EXPECT_EQ(parse_time(text), time) << text;
    EXPECT_EQ(to_text(time), text);
  }
  EXPECT_EQ(parse_time("250ms"), milliseconds{250});
  EXPECT_EQ(parse_time("0.5m"), seconds{30});
  EXPECT_EQ(parse_time("0"), Nanoseconds{0});
  EXPECT_EQ(to_text(-milliseconds{1500}), "-1.5s");
}

TEST(TimeText, RefusesWhatIsNoTime) {
  for (const std::string_view text : {"", "1", "s", "-1s", "1 s", "1.s", ".5s", "1e3s", "1s ", "1d", "1.0000000001s",
                                      "99999999999999999999s", "9000000000h", "9223372036854775807h"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

TEST(InstantText, IsUtcOrUnixSeconds) {
  EXPECT_EQ(parse_instant("2025-06-01T00:00:00Z"), instant_from_unix_seconds(1'748'736'000));
  EXPECT_EQ(parse_instant("1748736000"), instant_from_unix_seconds(1'748'736'000));
  EXPECT_EQ(parse_instant("2028-02-29T23:59:59Z"), instant_from_unix_seconds(1'835'481'599));
  for (const std::string_view text : {"", "2025-06-01", "2025-02-29T00:00:00Z", "2025-06-01T24:00:00Z",
                                      "2025-06-01T00:00:00+02:00", "2024-12-31T23:59:59Z", "0", "-1", "9999999999"}) {
    EXPECT_EQ(parse_instant(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace penstock::trial
