#include "penstock/cli/settings_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

using ::testing::HasSubstr;

TEST(SettingsFile, NamesStores) {
  const auto stores = read_settings(R"(
stores:
  big: {url: "redis://big:6379", password_file: /run/secrets/big}
  audit:
    url: rediss://audit
    ca: /etc/ca.pem
)",
                                    "settings.yaml");
  ASSERT_TRUE(stores.has_value());
  ASSERT_EQ(stores->size(), 2u);
  EXPECT_EQ((*stores)[0].name, "big");
  EXPECT_EQ((*stores)[0].password_file, "/run/secrets/big");
  EXPECT_EQ((*stores)[1].ca_file, "/etc/ca.pem");
  EXPECT_TRUE(read_settings("", "empty.yaml")->empty());
}

TEST(SettingsFile, SaysWhereItIsWrongAndWhatIsAccepted) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"- a", "is a mapping with `stores`"},
      {"store: {}", "accepted is stores"},
      {"stores: [a]", "mapping from names"},
      {"stores: {a: b}", "url, password_file and ca"},
      {"stores: {a: {}}", "store 'a' has no url"},
      {"stores: {a: {uri: x}}", "'uri' is no field of a store"},
      {"stores: {a: {url: [x]}}", "'url' is a text"},
      {"stores: {'': {url: x}}", "needs a name"},
      {"stores: {", "settings.yaml"},
  };
  for (const auto& [text, message] : kWrong) {
    const auto stores = read_settings(text, "settings.yaml");
    ASSERT_FALSE(stores.has_value()) << text;
    EXPECT_THAT(to_string(stores.error()), HasSubstr(message)) << text;
    EXPECT_THAT(to_string(stores.error()), HasSubstr("settings.yaml:")) << text;
  }
  std::string many = "stores:\n";
  for (std::size_t i = 0; i <= kMaxNamedStores; ++i) many += "  s" + std::to_string(i) + ": {url: x}\n";
  EXPECT_THAT(to_string(read_settings(many, "many.yaml").error()), HasSubstr("accepted are up to"));
}

}  // namespace
}  // namespace penstock::cli
