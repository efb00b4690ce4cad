#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/base/random.h"
#include "penstock/rules/testing/rules_text.h"

namespace penstock::rules {
namespace {

// The rules of matching once more, as plainly as possible: texts are put together, levels are searched from end to end.

struct Plain {
  std::string key;
  std::string value;
  std::optional<std::uint32_t> amount;
  bool share = false;
  std::vector<Plain> children;

  [[nodiscard]] std::string text() const { return value.empty() ? key : key + "_" + value; }
};

bool glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') return !text.empty() && pattern[0] == text[0] && glob(pattern.substr(1), text.substr(1));
  for (std::size_t skip = 0; skip <= text.size(); ++skip) {
    if (glob(pattern.substr(1), text.substr(skip))) return true;
  }
  return false;
}

struct Step {
  const Plain* node = nullptr;
  std::string counted;  // what stands in the value's place
};

Step find_plainly(const std::vector<Plain>& level, const Entry& entry) {
  const std::string key{entry.key};
  const std::string value{entry.value};
  const std::string joined = key + "_" + value;
  for (const Plain& node : level) {
    if (node.text() == joined) return {&node, value};
  }
  for (const Plain& node : level) {
    const std::string pattern = node.text();
    if (pattern.find('*') == std::string::npos || !glob(pattern, joined)) continue;
    const std::string part = pattern.starts_with(key + "_") ? pattern.substr(key.size() + 1) : pattern;
    return {&node, node.share ? part : value};
  }
  for (const Plain& node : level) {
    if (node.text() == key) return {&node, value};
  }
  return {};
}

struct Answer {
  std::optional<std::uint32_t> amount;
  std::vector<std::string> identity;
};

Answer match_plainly(const std::vector<Plain>& top, const Entries& entries) {
  Answer answer;
  const std::vector<Plain>* level = &top;
  for (const Entry& entry : entries) {
    const Step step = find_plainly(*level, entry);
    if (step.node == nullptr) return {};
    answer.amount = step.node->amount;
    answer.identity.insert(answer.identity.end(), {std::string{entry.key}, step.counted});
    level = &step.node->children;
  }
  return answer;
}

// Random trees over few letters, so that requests often hit, nearly hit, and hit several rules.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_{seed} {}

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }

  std::string word(std::string_view letters, std::size_t longest) {
    std::string text;
    for (std::size_t i = random_.below(longest + 1); i > 0; --i) text += letters[random_.below(letters.size())];
    return text;
  }

  std::vector<Plain> level(int depth) {
    std::vector<Plain> nodes;
    for (std::size_t i = 1 + random_.below(depth == 0 ? 12 : 5); i > 0; --i) {
      Plain node;
      node.key = "ab"[random_.below(2)] + word("ab_*", 2);
      node.value = word("ab_*", 4);
      const std::string text = node.text();
      if (std::ranges::any_of(nodes, [&](const Plain& other) { return other.text() == text; })) continue;
      if (random_.below(4) != 0) node.amount = next_amount_++;
      node.share = text.find('*') != std::string::npos && random_.below(2) == 0;
      if (depth < 3 && random_.below(2) == 0) node.children = level(depth + 1);
      nodes.push_back(node);
    }
    return nodes;
  }

 private:
  Random random_;
  std::uint32_t next_amount_ = 1;
};

void write(const std::vector<Plain>& level, std::string& out) {
  out += "[";
  for (const Plain& node : level) {
    out += fmt::format("{{key: \"{}\", value: \"{}\", share_threshold: {}", node.key, node.value, node.share);
    if (node.amount) out += fmt::format(", rate_limit: {{unit: day, requests_per_unit: {}}}", *node.amount);
    out += ", descriptors: ";
    write(node.children, out);
    out += "},";
  }
  out += "]";
}

void compare(std::uint64_t seed) {
  Generator generator{seed};
  const std::vector<Plain> top = generator.level(0);
  std::string text = "domain: d\ndescriptors: ";
  write(top, text);
  const std::shared_ptr<const RuleSet> rules = rules_of(text);

  std::map<std::vector<std::string>, Hash128> counters;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::string> words;
    for (std::size_t j = 2 * generator.below(5); j > 0; --j) words.push_back(generator.word("aab_*", 4));
    Entries entries;
    for (std::size_t j = 0; j < words.size(); j += 2) entries.push_back({words[j], words[j + 1]});

    const Answer expected = match_plainly(top, entries);
    const Match match = match_in(*rules, "d", entries);
    const std::string wanted = expected.amount ? fmt::format("{}/day", *expected.amount) : "none";
    ASSERT_EQ(describe(match.rule), wanted) << text << "\n" << ::testing::PrintToString(words);
    if (!expected.amount) continue;
    const Hash128 counter = counter_of(match.counter, match.rule->limits[0]);
    const auto [known, is_new] = counters.emplace(expected.identity, counter);
    ASSERT_EQ(known->second, counter) << text << "\n" << ::testing::PrintToString(words);
  }
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> seen;
  for (const auto& [identity, counter] : counters) ++seen[{counter.low, counter.high}];
  ASSERT_EQ(seen.size(), counters.size()) << "two identities have one counter\n" << text;
}

TEST(Matching, AgreesWithASlowObviousMatcherOnRandomRulesAndRequests) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    compare(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace penstock::rules
