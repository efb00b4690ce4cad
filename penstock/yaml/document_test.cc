#include "penstock/yaml/document.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::yaml {
namespace {

using ::testing::HasSubstr;

// A node in one line: scalars as text, plain ones after '~'.
std::string show(const Node& node) {
  std::string out;
  if (!node.tag.empty()) out += node.tag + " ";
  switch (node.kind) {
    case Kind::scalar: return out + (node.plain ? "~" : "") + node.text;
    case Kind::sequence:
      out += "[";
      for (const Node* item : node.items) out += show(*item) + ",";
      return out + "]";
    case Kind::mapping:
      out += "{";
      for (const Pair& pair : node.pairs) out += show(*pair.key) + ":" + show(*pair.value) + ",";
      return out + "}";
  }
  return out;
}

std::string shown(const std::string& text) {
  const Result<Document> document = Document::read(text, "f");
  if (!document) return to_string(document.error());
  return document->root() == nullptr ? "nothing" : show(*document->root());
}

TEST(Document, IsComposedOfScalarsSequencesAndMappings) {
  EXPECT_EQ(shown("a: [1, 'x', {b: c}]"), "{~a:[~1,x,{~b:~c,},],}");
  EXPECT_EQ(shown("a: |\n  b\n"), "{~a:b\n,}");
  EXPECT_EQ(shown("a: !!int '5'\nb: !mine {}"), "{~a:!!int 5,~b:!mine {},}");
  EXPECT_EQ(shown("a: !!binary aGk="), "{~a:!!binary hi,}");
  EXPECT_EQ(shown(""), "nothing");
  EXPECT_EQ(shown("# only this\n"), "nothing");
  EXPECT_EQ(shown("---\n"), "~");
}

TEST(Document, KnowsWhereEveryNodeBegins) {
  const Result<Document> document = Document::read("a: 1\n\xc3\xbc\xc3\xbc:   [x,\n  'y']\n", "f");
  ASSERT_TRUE(document.has_value());
  const Node& root = *document->root();
  EXPECT_EQ(root.mark, (Mark{.line = 1, .column = 1}));
  EXPECT_EQ(root.pairs[0].value->mark, (Mark{.line = 1, .column = 4}));
  EXPECT_EQ(root.pairs[1].key->mark, (Mark{.line = 2, .column = 1}));
  EXPECT_EQ(root.pairs[1].value->mark, (Mark{.line = 2, .column = 7}));
  EXPECT_EQ(root.pairs[1].value->items[1]->mark, (Mark{.line = 3, .column = 3}));
}

TEST(Document, ResolvesAliasesToTheLastAnchorOfThatName) {
  EXPECT_EQ(shown("[&a 1, *a, &a 2, *a]"), "[~1,~1,~2,~2,]");
  EXPECT_EQ(shown("a: &a {b: c}\nd: *a"), "{~a:{~b:~c,},~d:{~b:~c,},}");
  EXPECT_EQ(shown("{&k key: 1, *k : 2}"), "{~key:~1,~key:~2,}");
}

TEST(Document, MergesMappingsWhereTheMergeKeyStands) {
  EXPECT_EQ(shown("{a: 1, <<: {a: 2, b: 3}, c: 4}"), "{~a:~1,~a:~2,~b:~3,~c:~4,}");
  EXPECT_EQ(shown("<<: [{a: 1, b: 1}, {a: 2}]"), "{~a:~2,~a:~1,~b:~1,}");
  EXPECT_EQ(shown("'<<': {a: 1}"), "{<<:{~a:~1,},}");
  const Result<Document> document = Document::read("{<<: {a: 1}, b: 2}", "f");
  ASSERT_TRUE(document.has_value());
  EXPECT_TRUE(document->root()->pairs[0].merged);
  EXPECT_FALSE(document->root()->pairs[1].merged);
}

TEST(Document, IsTheFirstOfItsText) {
  const Result<Document> two = Document::read("a\n---\nb", "f");
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(show(*two->root()), "~a");
  EXPECT_TRUE(two->has_more());
  EXPECT_EQ(shown("a\n---\n]["), "~a");
  EXPECT_EQ(shown("a: b\n...\n}"), "{~a:~b,}");
  EXPECT_FALSE(Document::read("a\n...\n", "f")->has_more());
}

TEST(Document, IsReadFromUtf8AndUtf16WithAByteOrderMark) {
  using namespace std::string_literals;
  EXPECT_EQ(shown("\xef\xbb\xbf"
                  "a: b"),
            "{~a:~b,}");
  EXPECT_EQ(shown("\xff\xfe"
                  "a\0:\0 \0b\0"s),
            "{~a:~b,}");
  EXPECT_EQ(shown("\xfe\xff\0a\0:\0 \0b"s), "{~a:~b,}");
}

TEST(Document, RefusesWhatIsNoYaml11WithThePlace) {
  using namespace std::string_literals;
  struct Case {
    std::string text;
    std::string place;
    std::string message;
  };
  const std::vector<Case> table{
      {"a: 'b", "f:1:6", "while scanning a quoted scalar: found unexpected end of stream"},
      {"a:\n\t- b", "f:2:1", "cannot start any token (a tab; YAML is indented by spaces)"},
      {"a: *", "f:1:5", "alias"},
      {"a: *b", "f:1:4", "unknown anchor 'b'"},
      {"a: &a [*a]", "f:1:8", "'a' contains itself"},
      {"%YAML 1.2\n---\na", "f:1:1", "%YAML 1.2"},
      {"a: b: c", "f:1:5", "mapping values"},
      {"ab\ncd\x01", "f:2:3", "control characters are not allowed (0x01)"},
      {"a: \xff", "f:1:4", "UTF-8"},
      {"a: b\0c"s, "f:1:5", "control characters"},
      {"<<: x", "f:1:5", "'<<' merges a mapping or a list of mappings"},
      {"<<: [x]", "f:1:5", "'<<' merges"},
      {"a: !!int many", "f:1:4", "'many' is a text, not !!int"},
      {"a: !!binary a", "f:1:4", "base64"},
  };
  for (const Case& c : table) {
    EXPECT_THAT(shown(c.text), AllOf(::testing::StartsWith(c.place + ": "), HasSubstr(c.message))) << c.text;
  }
  EXPECT_EQ(shown("%YAML 1.1\n---\na"), "~a");
}

TEST(Document, BoundsDepthAndWhatAliasesAdd) {
  const auto nested = [](int depth) { return std::string(static_cast<std::size_t>(depth), '['); };
  const std::string close(Document::kMaxDepth, ']');
  EXPECT_THAT(shown(nested(Document::kMaxDepth) + close), HasSubstr("[[["));
  EXPECT_THAT(shown(nested(Document::kMaxDepth + 1) + close + "]"), HasSubstr("nested too deeply: at most 500 levels"));
  std::string bomb = "[&a0 [x]";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb.append(", &a").append(std::to_string(i)).append(" [").append(before).append(", ").append(before).append("]");
  }
  EXPECT_THAT(shown(bomb + "]"), HasSubstr("aliases add too many values: at most 1000000"));
}

}  // namespace
}  // namespace penstock::yaml
