#include "penstock/rules/pattern_index.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "penstock/base/random.h"

namespace penstock::rules {
namespace {

std::vector<Pattern> patterns_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::optional<std::size_t> one_by_one(const std::vector<Pattern>& patterns, std::string_view key,
                                      std::string_view value) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i].matches(key, value)) return i;
  }
  return std::nullopt;
}

std::string random_text(Random& random, std::string_view alphabet, std::size_t most) {
  std::string text;
  for (std::size_t size = random.below(most + 1); size > 0; --size) text += alphabet[random.below(alphabet.size())];
  return text;
}

// Few letters, so that pieces overlap, repeat and lie in each other.
TEST(PatternIndex, FindsWhatTryingOneByOneFinds) {
  const std::uint64_t seed = 20'261'201;
  Random random{seed};
  const std::string_view letters{"ab_\0\xff", 5};
  for (int round = 0; round < 400; ++round) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 1 + random.below(40); ++i) {
      std::string text = random_text(random, letters.substr(0, 2 + random.below(4)), 4);
      for (std::size_t star = 0; star < 1 + random.below(3); ++star) {
        text += "*" + random_text(random, letters.substr(0, 2 + random.below(4)), 3);
      }
      texts.push_back(text);
    }
    const std::vector<Pattern> patterns = patterns_of(texts);
    const PatternIndex index{patterns};
    for (int look = 0; look < 100; ++look) {
      const std::string key = random_text(random, letters, 4);
      const std::string value = random_text(random, letters, 8);
      std::size_t compared = 0;
      ASSERT_EQ(index.find(key, value, compared), one_by_one(patterns, key, value))
          << "seed " << seed << ", round " << round << ", " << key << " and " << value;
      ASSERT_LE(compared, patterns.size());
    }
  }
}

TEST(PatternIndex, TakesTheFirstInOrderWhereverItsPieceIs) {
  const std::vector<Pattern> patterns = patterns_of({"k_*zz*", "k_ab*", "*yx", "k_a*", "*"});
  const PatternIndex index{patterns};
  std::size_t compared = 0;
  EXPECT_EQ(index.find("k", "abzzyx", compared), 0u);
  EXPECT_EQ(index.find("k", "abyx", compared), 1u);
  EXPECT_EQ(index.find("k", "acyx", compared), 2u);
  EXPECT_EQ(index.find("k", "ac", compared), 3u);
  EXPECT_EQ(index.find("q", "", compared), 4u);
}

// The most patterns that are compared with any of the texts.
std::size_t most_compared(const std::vector<std::string>& texts, const std::vector<std::string>& values) {
  const PatternIndex index{patterns_of(texts)};
  std::size_t most = 0;
  for (const std::string& value : values) {
    std::size_t compared = 0;
    (void)index.find("path", value, compared);
    most = std::max(most, compared);
  }
  return most;
}

TEST(PatternIndex, ComparesAsFewOfAHundredThousandPatternsAsOfTen) {
  struct Shape {
    const char* name;
    std::string (*pattern)(int);
    std::string (*value)(int);
    int most;
  };
  const std::vector<Shape> shapes = {
      {"beginnings", [](int i) { return fmt::format("path_/users/{}/*", i); },
       [](int i) { return fmt::format("/users/{}/x", i); }, 100'000},
      {"ends", [](int i) { return fmt::format("path_*/v{}", i); }, [](int i) { return fmt::format("/api/v{}", i); },
       100'000},
      {"middles", [](int i) { return fmt::format("path_/api/*<{}>*/x", i); },
       [](int i) { return fmt::format("/api/a<{}>b/x", i); }, 4'000},
      {"exact but for a star", [](int i) { return fmt::format("path_/a*/{}", i); },
       [](int i) { return fmt::format("/abc/{}", i); }, 100'000},
  };
  for (const Shape& shape : shapes) {
    const auto compared = [&](int count) {
      std::vector<std::string> texts;
      for (int i = 0; i < count; ++i) texts.push_back(shape.pattern(i));
      return most_compared(texts,
                           {shape.value(0), shape.value(count / 2), shape.value(count - 1), shape.value(-1), ""});
    };
    EXPECT_LE(compared(10), 2u) << shape.name;
    EXPECT_LE(compared(shape.most), 2u) << shape.name;
  }
}

TEST(PatternIndex, ComparesEachPatternOnceHoweverOftenItsPieceOccurs) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i)
    texts.push_back(fmt::format("path_*{}*no", std::string(static_cast<std::size_t>(i + 1), 'a')));
  EXPECT_LE(most_compared(texts, {std::string(65'536, 'a')}), 20u);
}

TEST(PatternIndex, HoldsTenThousandBeginningsThatLieInEachOther) {
  std::vector<std::string> texts;
  for (int i = 0; i < 10'000; ++i)
    texts.push_back("path_" + std::string(static_cast<std::size_t>(10'000 - i), 'a') + "*b");
  const PatternIndex index{patterns_of(texts)};
  std::size_t compared = 0;
  EXPECT_EQ(index.find("path", std::string(5'000, 'a') + "b", compared), 5'000u);
  EXPECT_LE(compared, 10'000u);
}

TEST(PatternIndex, ComparesOneByOneWhatDiffersOnlyBetweenStarsBeyondItsRoom) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < PatternIndex::kMaxMiddles + 100; ++i) texts.push_back(fmt::format("*<{}>*", i));
  const std::vector<Pattern> patterns = patterns_of(texts);
  const PatternIndex index{patterns};
  for (const std::size_t i : {std::size_t{0}, PatternIndex::kMaxMiddles - 1, PatternIndex::kMaxMiddles + 99}) {
    std::size_t compared = 0;
    EXPECT_EQ(index.find("k", fmt::format("a<{}>b", i), compared), i);
  }
}

}  // namespace
}  // namespace penstock::rules
