#include "penstock/cli/environment.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::expected<Environment, std::vector<std::string>> read(const std::map<std::string, std::string>& set) {
  return read_environment([&](std::string_view name) -> std::optional<std::string> {
    const auto found = set.find(std::string{name});
    if (found == set.end()) return std::nullopt;
    return found->second;
  });
}

std::vector<std::string> mistakes(const std::map<std::string, std::string>& set) {
  const auto environment = read(set);
  return environment ? std::vector<std::string>{} : environment.error();
}

TEST(Environment, OfNothingSetSaysNothing) {
  const auto environment = read({});
  ASSERT_TRUE(environment);
  EXPECT_FALSE(environment->shadow_mode || environment->near_limit_ratio || environment->backend);
  EXPECT_EQ(environment->response_header_names.limit, "RateLimit-Limit");
  EXPECT_THAT(environment->about_stores, IsEmpty());
}

TEST(Environment, TakesBooleansAsGoDoes) {
  for (const char* text : {"1", "t", "T", "TRUE", "true", "True"})
    EXPECT_EQ(read({{"SHADOW_MODE", text}})->shadow_mode, true);
  for (const char* text : {"0", "f", "F", "FALSE", "false", "False"}) {
    EXPECT_EQ(read({{"SHADOW_MODE", text}})->shadow_mode, false);
  }
  for (const char* text : {"", "yes", "on", "tRUE", " true", "2"}) {
    EXPECT_THAT(mistakes({{"SHADOW_MODE", text}}),
                ElementsAre(AllOf(StartsWith(std::string{"SHADOW_MODE='"} + text), HasSubstr("true or false"))));
  }
}

TEST(Environment, SetsEachOfItsSettings) {
  const auto environment = read({{"MERGE_DOMAIN_CONFIG", "true"},
                                 {"QUOTA_MODE", "1"},
                                 {"STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", "t"},
                                 {"RESPONSE_DYNAMIC_METADATA", "True"},
                                 {"LIMIT_RESPONSE_HEADERS_ENABLED", "TRUE"},
                                 {"LIMIT_LIMIT_HEADER", "X-Limit"},
                                 {"LIMIT_RESET_HEADER", ""},
                                 {"LIMIT_REQUEST_HEADERS_ENABLED", "false"},
                                 {"LIMIT_REQUEST_REMAINING_HEADER", "left"},
                                 {"NEAR_LIMIT_RATIO", "0.7"},
                                 {"FORCE_START_WITHOUT_INITIAL_CONFIG", "true"},
                                 {"BACKEND_TYPE", "redis"}});
  ASSERT_TRUE(environment);
  EXPECT_EQ(environment->merge_domains, true);
  EXPECT_EQ(environment->quota_mode, true);
  EXPECT_EQ(environment->spare_others, true);
  EXPECT_EQ(environment->dynamic_metadata, true);
  EXPECT_EQ(environment->response_headers, true);
  EXPECT_EQ(environment->response_header_names.limit, "X-Limit");
  EXPECT_EQ(environment->response_header_names.remaining, "RateLimit-Remaining");
  EXPECT_EQ(environment->response_header_names.reset, "") << "a text that is empty is a text";
  EXPECT_EQ(environment->request_headers, false);
  EXPECT_EQ(environment->request_header_names.remaining, "left");
  EXPECT_EQ(environment->near_limit_ratio, 0.7F);
  EXPECT_EQ(environment->start_without_rules, true);
  EXPECT_EQ(environment->backend, "redis");
}

TEST(Environment, ChecksRatiosAndNumbers) {
  EXPECT_EQ(read({{"NEAR_LIMIT_RATIO", "1.5"}})->near_limit_ratio, 1.5F);
  EXPECT_EQ(read({{"NEAR_LIMIT_RATIO", "+8e-1"}})->near_limit_ratio, 0.8F);
  for (const char* text : {"", "nan", "inf", "-1", "0,8", "80%"}) {
    EXPECT_THAT(mistakes({{"NEAR_LIMIT_RATIO", text}}), ElementsAre(HasSubstr("0.8 is usual"))) << text;
  }
  EXPECT_THAT(mistakes({{"EXPIRATION_JITTER_MAX_SECONDS", "5m"}}), ElementsAre(HasSubstr("whole number")));
  EXPECT_THAT(mistakes({{"LOCAL_CACHE_SIZE_IN_BYTES", ""}}), ElementsAre(HasSubstr("whole number")));
  EXPECT_THAT(mistakes({{"BACKEND_TYPE", "memcache"}}), ElementsAre(HasSubstr("no memcached")));
}

TEST(Environment, NamesAllMistakesAtOnce) {
  EXPECT_THAT(mistakes({{"SHADOW_MODE", "on"}, {"QUOTA_MODE", ""}, {"LIMIT_LIMIT_HEADER", "fine"}}),
              ElementsAre(StartsWith("SHADOW_MODE='on'"), StartsWith("QUOTA_MODE=''")));
}

TEST(Environment, TellsWhichVariablesHaveNoEffectHere) {
  const auto environment = read({{"CACHE_KEY_PREFIX", "p:"}, {"EXPIRATION_JITTER_MAX_SECONDS", "300"}});
  ASSERT_TRUE(environment);
  EXPECT_THAT(environment->about_stores, ElementsAre("CACHE_KEY_PREFIX", "EXPIRATION_JITTER_MAX_SECONDS"));
}

TEST(Environment, LooksAtNoVariableThatIsNotInTheTable) {
  std::vector<std::string> asked;
  const auto environment = read_environment([&](std::string_view name) -> std::optional<std::string> {
    asked.emplace_back(name);
    return std::nullopt;
  });
  ASSERT_TRUE(environment);
  ASSERT_EQ(asked.size(), variables().size());
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(asked[i], variables()[i].name);
}

}  // namespace
}  // namespace penstock::cli
