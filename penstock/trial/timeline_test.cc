#include "penstock/trial/timeline.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::trial {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::shared_ptr<const rules::RuleSet> rules_of(const std::string& limit) {
  const rules::Source source{.name = "r.yaml",
                             .text = "domain: d\ndescriptors:\n  - key: api_key\n    rate_limit: " + limit + "\n"};
  auto loaded = rules::load({&source, 1}, {});
  EXPECT_TRUE(loaded);
  return loaded->rules;
}

constexpr const char* kGcra = "{unit: second, requests_per_unit: 5, algorithm: gcra, burst: 20}";

TEST(Load, IsReadAsEntriesAndLoads) {
  const auto load = parse_load("api_key=k1  route=a=b 3@10/s 2@once wait:10s 2@60/m");
  ASSERT_TRUE(load) << load.error().message;
  EXPECT_EQ(load->entries.size(), 2u);
  EXPECT_EQ(load->entries[1].second, "a=b");
  const std::vector<Nanoseconds> at = {Nanoseconds{0},
                                       std::chrono::milliseconds{100},
                                       std::chrono::milliseconds{200},
                                       std::chrono::milliseconds{300},
                                       std::chrono::milliseconds{300},
                                       std::chrono::milliseconds{10'300},
                                       std::chrono::milliseconds{11'300}};
  EXPECT_EQ(load->at, at);
}

TEST(Load, NamesTheWordThatIsWrong) {
  for (const std::string_view text :
       {"", "k=v", "10@1/s", "k=v 10", "k=v 0@1/s", "k=v 1@0/s", "k=v 1@1", "k=v 1@1/d", "k=v 1000001@once",
        "k=v 1@once wait:x", "k=v 1@once k2=v2", "=v 1@once", "k=v 1000000@1/h 1000000@1/h"}) {
    const auto load = parse_load(text);
    ASSERT_FALSE(load) << text;
    EXPECT_THAT(load.error().message, HasSubstr("accepted is 'KEY=VALUE ... COUNT@RATE/s'")) << text;
  }
}

TEST(Timeline, TellsWhatPassesAndWhenTheFirstIsRefused) {
  const auto timeline = run_load(rules_of(kGcra), "d", *parse_load("api_key=k1 100@10/s"));
  ASSERT_TRUE(timeline);
  // 20 at once and 5 a second: after t seconds 10t asked and 20 + 5t are there, so until 4 s.
  EXPECT_EQ(timeline->admitted, 69u);
  EXPECT_EQ(timeline->refused, 31u);
  EXPECT_EQ(timeline->first_refused, std::chrono::milliseconds{3900});
  EXPECT_EQ(timeline->longest_wait, std::chrono::milliseconds{100});
  EXPECT_EQ(timeline->duration, std::chrono::milliseconds{9900});
  EXPECT_LE(timeline->intervals.size(), Timeline::kMaxIntervals);
  const std::string drawn = draw(*timeline);
  EXPECT_THAT(drawn, AllOf(HasSubstr("69 of 100 admitted within 9.9s; first refused at 3.9s, longest wait told 0.1s"),
                           HasSubstr("rule 'd.api_key' (r.yaml:3:10): 5 per second, gcra, burst 20")));
}

TEST(Timeline, StaysShortHoweverLongTheLoad) {
  for (const char* load : {"api_key=k 1@once", "api_key=k 100000@1000000/s", "api_key=k 20000@1/m",
                           "api_key=k 1@once wait:80000h 1@once"}) {
    const auto timeline = run_load(rules_of(kGcra), "d", *parse_load(load));
    ASSERT_TRUE(timeline);
    EXPECT_LE(timeline->intervals.size(), Timeline::kMaxIntervals) << load;
    EXPECT_FALSE(draw(*timeline).empty());
  }
}

TEST(Timeline, SaysWhereNoWaitHelpsAndWhereNothingLimits) {
  const auto none = run_load(rules_of("{unit: day, requests_per_unit: 0}"), "d", *parse_load("api_key=k 2@once"));
  EXPECT_THAT(draw(*none), HasSubstr("no wait would help"));
  const auto other = run_load(rules_of(kGcra), "d", *parse_load("other=k 2@once"));
  EXPECT_THAT(draw(*other), HasSubstr("no rule with a limit matches"));
  EXPECT_EQ(run_load(rules_of(kGcra), "e", *parse_load("k=v 1@once")).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace penstock::trial
